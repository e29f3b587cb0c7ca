package grafana

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	plugins.RegisterDefaultPlugins() // the types of panels and queries
	os.Exit(m.Run())
}

// read reads a dashboard of the classic format, which Grafana loads from files: strictly, for fields that it must not
// have, and then again. The SDK's strict reader drops panels, since it takes an empty list of errors for an error, and
// it does not look into fieldConfig.
func read(text []byte) (d dashboard.Dashboard, err error) {
	var strict dashboard.Dashboard
	err = strict.UnmarshalJSONStrict(text)
	if list, ok := err.(cog.BuildErrors); err != nil && (!ok || len(list) > 0) {
		return d, err
	}
	return d, json.Unmarshal(text, &d)
}

// check returns the errors of a dashboard.
func check(text []byte) error {
	d, err := read(text)
	if err != nil {
		return err
	}
	errs := []error{d.Validate()}
	// The SDK leaves panels and queries that it does not know unchanged.
	for _, p := range d.Panels {
		if p.RowPanel != nil {
			for _, q := range p.RowPanel.Panels {
				errs = append(errs, known(q))
			}
			continue
		}
		errs = append(errs, known(*p.Panel))
	}
	for _, a := range d.Annotations.List {
		if a.Target != nil {
			errs = append(errs, query(a.Name, a.Target.DataqueryType()))
		}
	}
	// Everything has been read: the types would drop other fields.
	back, err := json.Marshal(d)
	if err != nil {
		return err
	}
	var all any
	errs = append(errs, same(text, back), spelled(reflect.ValueOf(d)), json.Unmarshal(text, &all), free(all))
	return errors.Join(errs...)
}

// words are the values of the types that allow a few words only: the SDK takes any.
var words = map[reflect.Type][]string{}

func list[T ~string](all ...T) struct{} {
	for _, v := range all {
		t := reflect.TypeFor[T]()
		words[t] = append(words[t], string(v))
	}
	return struct{}{}
}

var _ = []struct{}{
	list(dashboard.VariableTypeQuery, dashboard.VariableTypeDatasource),
	list(dashboard.DashboardLinkTypeLink, dashboard.DashboardLinkTypeDashboards),
	list(dashboard.ThresholdsModeAbsolute, dashboard.ThresholdsModePercentage),
	list(prometheus.PromQueryFormatTimeSeries, prometheus.PromQueryFormatTable, prometheus.PromQueryFormatHeatmap),
	list(common.LegendDisplayModeList, common.LegendDisplayModeTable, common.LegendDisplayModeHidden),
	list(common.LegendPlacementBottom, common.LegendPlacementRight),
	list(common.TooltipDisplayModeSingle, common.TooltipDisplayModeMulti, common.TooltipDisplayModeNone),
	list(common.SortOrderAscending, common.SortOrderDescending, common.SortOrderNone),
	list(common.BigValueColorModeValue, common.BigValueColorModeBackground, common.BigValueColorModeNone),
	list(common.BigValueGraphModeNone, common.BigValueGraphModeLine, common.BigValueGraphModeArea),
	list(common.BigValueTextModeAuto, common.BigValueTextModeValue, common.BigValueTextModeName),
	list(common.BigValueJustifyModeAuto, common.BigValueJustifyModeCenter),
	list(common.PercentChangeColorModeStandard, common.PercentChangeColorModeInverted),
	list(common.VizOrientationAuto, common.VizOrientationVertical, common.VizOrientationHorizontal),
	list(common.GraphDrawStyleLine, common.GraphDrawStyleBars, common.GraphDrawStylePoints),
	list(common.StackingModeNone, common.StackingModeNormal, common.StackingModePercent),
	list(common.TableCellHeightSm, common.TableCellHeightMd, common.TableCellHeightLg, common.TableCellHeightAuto),
}

// spelled reports values of such types that these do not allow.
func spelled(v reflect.Value) error {
	var errs []error
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return spelled(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			errs = append(errs, spelled(v.Field(i)))
		}
	case reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, spelled(v.Index(i)))
		}
	case reflect.String:
		if t := v.Type(); t != reflect.TypeFor[string]() && !slices.Contains(words[t], v.String()) {
			return fmt.Errorf("%s %q is none of %q", t, v, words[t])
		}
	}
	return errors.Join(errs...)
}

// free checks what the schema does not: sources, and links in overrides.
func free(v any) error {
	var errs []error
	switch v := v.(type) {
	case map[string]any:
		if s, ok := v["datasource"].(map[string]any); ok && (s["type"] != "prometheus" || s["uid"] != "${datasource}") {
			errs = append(errs, fmt.Errorf("the data source %v is not the one that is chosen", s))
		}
		if v["id"] == "links" {
			b, err := json.Marshal(v["value"])
			d := json.NewDecoder(bytes.NewReader(b))
			d.DisallowUnknownFields()
			var links []struct {
				Title, URL  string
				TargetBlank bool
			}
			errs = append(errs, err, d.Decode(&links))
		}
		for _, x := range v {
			errs = append(errs, free(x))
		}
	case []any:
		for _, x := range v {
			errs = append(errs, free(x))
		}
	}
	return errors.Join(errs...)
}

func known(p dashboard.Panel) error {
	var errs []error
	if _, ok := cog.NewRuntime().ConfigForPanelcfgVariant(p.Type); !ok {
		errs = append(errs, fmt.Errorf("there are no panels of type %s", p.Type))
	}
	for _, t := range p.Targets {
		errs = append(errs, query(*p.Title, t.DataqueryType()))
	}
	return errors.Join(errs...)
}

func query(where, kind string) error {
	if kind != "prometheus" {
		return fmt.Errorf("%s: a query of type %q", where, kind)
	}
	return nil
}

// same reports the parts of a document that are not in another.
func same(a, b []byte) error {
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		return err
	}
	return missing("", x, y)
}

func missing(path string, a, b any) error {
	var errs []error
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		for k, v := range a {
			errs = append(errs, missing(path+"."+k, v, b[k]))
		}
	case []any:
		b, _ := b.([]any)
		if len(a) != len(b) {
			return fmt.Errorf("%s: %d elements have become %d", path, len(a), len(b))
		}
		for i, v := range a {
			errs = append(errs, missing(fmt.Sprintf("%s[%d]", path, i), v, b[i]))
		}
	default:
		if a != b {
			errs = append(errs, fmt.Errorf("%s: %v has become %v", path, a, b))
		}
	}
	return errors.Join(errs...)
}

// files returns the dashboards, by name.
func files(t *testing.T) map[string][]byte {
	names, err := filepath.Glob("*.json")
	require.NoError(t, err)
	require.Len(t, names, 4)
	all := make(map[string][]byte)
	for _, name := range names {
		all[name], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	return all
}

// Every dashboard conforms to Grafana's schema.
func TestSchema(t *testing.T) {
	for file, text := range files(t) {
		require.NoError(t, check(text), file)
	}
}

// Each panel has an identifier of its own, panels are on the grid of 24 columns, and do not overlap.
func TestGrid(t *testing.T) {
	for file, text := range files(t) {
		d, err := read(text)
		require.NoError(t, err, file)
		ids, taken := make(map[uint32]bool), make(map[[2]uint32]string)
		place := func(id uint32, title string, g *dashboard.GridPos) {
			require.False(t, ids[id], "%s: two panels have the identifier %d", file, id)
			ids[id] = true
			require.LessOrEqual(t, g.X+g.W, uint32(24), "%s: %s", file, title)
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					require.Empty(t, taken[[2]uint32{x, y}], "%s: %s stands on it", file, title)
					taken[[2]uint32{x, y}] = title
				}
			}
		}
		for _, p := range d.Panels {
			if p.RowPanel != nil {
				place(p.RowPanel.Id, *p.RowPanel.Title, p.RowPanel.GridPos)
				continue
			}
			place(*p.Panel.Id, *p.Panel.Title, p.Panel.GridPos)
		}
	}
}

// The check refuses mistakes at every depth.
func TestMistakes(t *testing.T) {
	b := files(t)["actornode.json"]
	require.NoError(t, check(b))
	for _, m := range []struct{ name, old, new string }{
		{"a field of the dashboard", `"refresh": `, `"refreshes": `},
		{"a type of the dashboard", `"editable": true`, `"editable": "yes"`},
		{"a field of a panel", `"gridPos": `, `"gridPosition": `},
		{"an unknown panel", `"type": "timeseries"`, `"type": "timeserie"`},
		{"an option of a panel", `"reduceOptions": `, `"reduce": `},
		{"a field of fieldConfig", `"thresholds": `, `"threshold": `},
		{"a value of an option", `"displayMode": "list"`, `"displayMode": "lists"`},
		{"a field of a query", `"legendFormat": `, `"legend": `},
		{"a query without a source", `"type": "prometheus",`, `"type": "prometeus",`},
		{"a field of an annotation", `"iconColor": `, `"colour": `},
		{"a field of a link", `"targetBlank": `, `"blank": `},
		{"a field of a data link", `"title": "Node ${`, `"tittle": "Node ${`},
		{"a variable", `"includeAll": true`, `"includeAll": 1`},
		{"a kind of variable", `"type": "query"`, `"type": "quary"`},
	} {
		t.Run(m.name, func(t *testing.T) {
			require.Contains(t, string(b), m.old)
			require.Error(t, check([]byte(strings.Replace(string(b), m.old, m.new, 1))))
		})
	}
}
