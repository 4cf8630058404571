package report

import (
	"bytes"
	"encoding/gob"
	"maps"
	"slices"

	"github.com/amplint/amplint/analyze"
)

// drawing is a profile as it is kept: maps are lists, so that the same profile is the same bytes.
type drawing struct {
	Profile analyze.Profile
	Keys    []string
	Chains  [][]analyze.ProfileStep
}

// Pack puts the profile, if there is one, where JSON has it.
func (m *Model) Pack() error {
	if m.Profile == nil {
		return nil
	}
	d := drawing{Profile: *m.Profile, Keys: slices.Sorted(maps.Keys(m.Profile.Chains))}
	d.Profile.Chains = nil
	for _, k := range d.Keys {
		d.Chains = append(d.Chains, m.Profile.Chains[k])
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(d); err != nil {
		return err
	}
	m.Drawing = b.Bytes()
	return nil
}

// Unpack gets the profile from what Pack made of it.
func (m *Model) Unpack() error {
	if m.Drawing == nil {
		return nil
	}
	var d drawing
	if err := gob.NewDecoder(bytes.NewReader(m.Drawing)).Decode(&d); err != nil {
		return err
	}
	d.Profile.Chains = map[string][]analyze.ProfileStep{}
	for i := range min(len(d.Keys), len(d.Chains)) {
		d.Profile.Chains[d.Keys[i]] = d.Chains[i]
	}
	m.Profile, m.Drawing = &d.Profile, nil
	return nil
}
