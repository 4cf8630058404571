package config

import _ "embed"

//go:embed schema.json
var schema string

// Schema returns the JSON schema of the file, which editors complete and check it by.
func Schema() string { return schema }
