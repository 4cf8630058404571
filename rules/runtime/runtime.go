// Package runtime knows what runtimes do inside their kernels as far as it is written down: the type
// they accumulate in, whether they keep subnormal numbers, and which operators they compute in
// float32. The facts and their sources stand in profiles.yaml.
package runtime

import (
	_ "embed" // profiles.yaml
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

//go:embed profiles.yaml
var data []byte

// State tells whether kernels have a property that keeps a result right.
type State uint8

// The states. The zero value is that nobody asked.
const (
	Unsaid  State = iota // no runtime is named
	Unknown              // a runtime is named and does not tell: taken as the worse
	Safe                 // float32 sums, subnormal numbers kept
	Unsafe               // sums in the operand type, subnormal numbers turned into 0
)

var words = map[string]State{"unknown": Unknown, "fp32": Safe, "target": Unsafe, "keep": Safe, "flush": Unsafe}

// UnmarshalYAML reads a state as profiles.yaml writes it.
func (s *State) UnmarshalYAML(text []byte) error {
	word := strings.Trim(string(text), "\"' \n")
	found, ok := words[word]
	if !ok {
		return fmt.Errorf("%q is no state of a kernel", word)
	}
	*s = found
	return nil
}

// Profile is what is known of one runtime. The zero value says nothing.
type Profile struct {
	Name       string   `yaml:"-"`
	Title      string   `yaml:"title"`
	Accumulate State    `yaml:"accumulate"`
	Flush      State    `yaml:"flush"`
	Wide       []string `yaml:"wide"` // operators that compute in float32 inside
	Notes      []string `yaml:"notes"`
	Sources    []string `yaml:"sources"`
}

// Profiles returns all profiles, in the order of the file.
func Profiles() ([]Profile, error) {
	var file yaml.MapSlice
	byName := map[string]Profile{}
	if err := yaml.UnmarshalWithOptions(data, &byName, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("profiles of runtimes: %w", err)
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("profiles of runtimes: %w", err)
	}
	var list []Profile
	for _, item := range file {
		p := byName[fmt.Sprint(item.Key)]
		p.Name = fmt.Sprint(item.Key)
		list = append(list, p)
	}
	return list, nil
}

// Names returns the names of all profiles.
func Names() []string {
	list, err := Profiles()
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

// Load returns the profile of a name.
func Load(name string) (Profile, error) {
	list, err := Profiles()
	if err != nil {
		return Profile{}, err
	}
	i := slices.IndexFunc(list, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, fmt.Errorf("unknown runtime %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return list[i], nil
}

// Sums tells what is known of the sums of an operator.
func (p *Profile) Sums(op string) State {
	if p.wide(op) {
		return Safe
	}
	return p.Accumulate
}

// Inside tells what is known of the intermediate results of an operator. Sums in the operand type
// mean that they are of that type too; sums in float32 do not mean that they are not.
func (p *Profile) Inside(op string) State {
	switch {
	case p.wide(op):
		return Safe
	case p.Accumulate == Safe && p.Name != "":
		return Unknown
	}
	return p.Accumulate
}

func (p *Profile) wide(op string) bool { return slices.Contains(p.Wide, op) }

// Who names the runtime, or the flags that stand for one.
func (p *Profile) Who() string {
	if p.Name == "" {
		return "the kernel asked about"
	}
	return p.Name
}
