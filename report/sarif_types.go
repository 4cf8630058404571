package report

// The types of SARIF 2.1.0 that are written, with the names of its fields. What readers do with
// them, as far as it shaped the writer:
//   - GitHub shows message.text, the rule's help as Markdown and the first location only; it wants a
//     region there and ignores suppressions that are not "accepted".
//   - Its upload computes primaryLocationLineHash from the text of the line. All findings of a binary
//     model stand in one line and would be one alert, so it is given.
//   - VS Code's viewer shows logical locations, related locations and suppressions.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID         string         `json:"id"`
	Short      sarifText      `json:"shortDescription"`
	Full       sarifText      `json:"fullDescription"`
	Help       sarifText      `json:"help"`
	Properties sarifRuleProps `json:"properties"`
}

type sarifRuleProps struct {
	Tags []string `json:"tags"`
}

type sarifText struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	ExitCode      int                 `json:"exitCode"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Descriptor sarifDescriptor `json:"descriptor"`
	Level      string          `json:"level"`
	Message    sarifText       `json:"message"`
	Locations  []sarifLocation `json:"locations,omitempty"`
}

type sarifDescriptor struct {
	ID string `json:"id"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Related      []sarifLocation    `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Properties   sarifProps         `json:"properties"`
}

// sarifProps are the fields of a finding that SARIF has no place for.
type sarifProps struct {
	Kind         string   `json:"kind"`
	Evidence     string   `json:"evidence"`
	Consequence  string   `json:"consequence,omitempty"`
	Target       string   `json:"target"`
	Value        string   `json:"value,omitempty"`
	Range        *Span    `json:"range,omitempty"`
	Basis        string   `json:"basis,omitempty"`
	Limit        *Number  `json:"limit,omitempty"`
	Module       string   `json:"module,omitempty"`
	Consequences []string `json:"consequences,omitempty"`
	Fixes        []Fix    `json:"fixes,omitempty"`
}

type sarifLocation struct {
	ID       int            `json:"id,omitempty"` // of related locations
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	Message  *sarifText     `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"name,omitempty"`
	Full string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification,omitempty"`
}
