package kubernetes

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/actornode/actornode/internal/daemon/config"
)

// cluster is the result of building a folder: all kinds that the manifests have.
type cluster struct {
	Accounts []core.ServiceAccount
	Services []core.Service
	Maps     []core.ConfigMap
	Sets     []apps.StatefulSet
	Budgets  []policy.PodDisruptionBudget
	Policies []networking.NetworkPolicy
	Monitors []monitoring.ServiceMonitor
	Rules    []monitoring.PrometheusRule

	Dashboards []core.ConfigMap
}

// build builds a folder with kustomize, and reads each manifest strictly.
func build(t *testing.T, folder string) (c cluster) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	require.NoError(t, err)
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		require.NoError(t, err)
		switch kind := r.GetGvk().String(); kind {
		case "ServiceAccount.v1.[noGrp]":
			read(t, text, &c.Accounts)
		case "Service.v1.[noGrp]":
			read(t, text, &c.Services)
		case "ConfigMap.v1.[noGrp]":
			if r.GetLabels()["grafana_dashboard"] != "" {
				read(t, text, &c.Dashboards)
			} else {
				read(t, text, &c.Maps)
			}
		case "StatefulSet.v1.apps":
			read(t, text, &c.Sets)
		case "PodDisruptionBudget.v1.policy":
			read(t, text, &c.Budgets)
		case "NetworkPolicy.v1.networking.k8s.io":
			read(t, text, &c.Policies)
		case "ServiceMonitor.v1.monitoring.coreos.com":
			read(t, text, &c.Monitors)
		case "PrometheusRule.v1.monitoring.coreos.com":
			read(t, text, &c.Rules)
		default:
			t.Errorf("%s: the test knows no type for %s", folder, kind)
		}
	}
	require.Len(t, c.Sets, 1)
	require.Len(t, c.Services, 1)
	return c
}

func read[T any](t *testing.T, text []byte, to *[]T) {
	var v T
	require.NoError(t, yaml.UnmarshalStrict(text, &v), "%s", text)
	*to = append(*to, v)
}

// The check is strict: a field that Kubernetes does not have, and a value of another type, fail.
func TestReadIsStrict(t *testing.T) {
	var s apps.StatefulSet
	require.ErrorContains(t, yaml.UnmarshalStrict([]byte("spec: {replica: 3}"), &s), `unknown field "replica"`)
	require.Error(t, yaml.UnmarshalStrict([]byte("spec: {replicas: three}"), &s))
}

var folders = map[string]int{"base": 0, "overlays/tls": 1} // and how many ServiceMonitors each has

// The references between the manifests are right.
func TestManifestsFit(t *testing.T) {
	for folder, monitors := range folders {
		t.Run(folder, func(t *testing.T) {
			c := build(t, folder)
			set, service := c.Sets[0], c.Services[0]
			pod := set.Spec.Template
			container := pod.Spec.Containers[0]
			for name, selector := range map[string]map[string]string{
				"Service": service.Spec.Selector, "StatefulSet": set.Spec.Selector.MatchLabels,
				"PodDisruptionBudget": c.Budgets[0].Spec.Selector.MatchLabels,
				"NetworkPolicy":       c.Policies[0].Spec.PodSelector.MatchLabels,
				"spread":              pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
			} {
				assert.NotEmpty(t, selector, name)
				for k, v := range selector {
					assert.Equal(t, v, pod.Labels[k], "%s selects by %s", name, k)
				}
			}
			assert.Equal(t, service.Name, set.Spec.ServiceName)
			assert.Equal(t, core.ClusterIPNone, service.Spec.ClusterIP)
			assert.Equal(t, c.Accounts[0].Name, pod.Spec.ServiceAccountName)

			ports := make(map[string]int32)
			for _, p := range container.Ports {
				ports[p.Name] = p.ContainerPort
			}
			for _, p := range service.Spec.Ports {
				assert.Equal(t, ports[p.TargetPort.String()], p.Port, p.Name)
				assert.LessOrEqual(t, len(p.Name), 15, "longest name of a port")
			}
			for _, p := range []*core.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
				assert.NotZero(t, ports[p.HTTPGet.Port.String()])
			}
			for _, rules := range c.Policies[0].Spec.Ingress {
				for _, p := range rules.Ports {
					assert.NotZero(t, ports[p.Port.String()], "NetworkPolicy: port %s", p.Port)
				}
			}
			mounted := make(map[string]bool)
			for _, m := range container.VolumeMounts {
				mounted[m.Name] = true
			}
			for _, v := range pod.Spec.Volumes {
				assert.True(t, mounted[v.Name], v.Name)
				if v.ConfigMap != nil {
					assert.Equal(t, c.Maps[0].Name, v.ConfigMap.Name, "kustomize gives it a name of its content")
				}
			}
			assert.Len(t, mounted, len(pod.Spec.Volumes))
			require.Len(t, c.Monitors, monitors)
			require.Len(t, c.Rules, monitors)
			require.Len(t, c.Dashboards, 4*monitors)
			for _, m := range c.Monitors {
				for k, v := range m.Spec.Selector.MatchLabels {
					assert.Equal(t, v, service.Labels[k])
				}
				assert.NotZero(t, ports[m.Spec.Endpoints[0].Port])
				assert.Equal(t, "/metrics", m.Spec.Endpoints[0].Path)
			}
		})
	}
}

// The pods comply with the profile restricted of Kubernetes' Pod Security Standards.
func TestPodsAreRestricted(t *testing.T) {
	for folder := range folders {
		spec := build(t, folder).Sets[0].Spec.Template.Spec
		assert.True(t, *spec.SecurityContext.RunAsNonRoot)
		assert.Positive(t, *spec.SecurityContext.RunAsUser)
		assert.Equal(t, core.SeccompProfileTypeRuntimeDefault, spec.SecurityContext.SeccompProfile.Type)
		assert.False(t, spec.HostNetwork || spec.HostPID || spec.HostIPC || *spec.AutomountServiceAccountToken)
		for _, c := range spec.Containers {
			assert.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
			assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
			assert.Equal(t, []core.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
			assert.Empty(t, c.SecurityContext.Capabilities.Add)
			assert.False(t, c.Resources.Limits.Memory().IsZero())
		}
		for _, v := range spec.Volumes {
			assert.True(t, v.ConfigMap != nil || v.Secret != nil, "%s is of a kind that the profile may not allow", v.Name)
		}
	}
}

// secrets stand for the secrets of the cluster, by secret and key.
var secrets = map[string]string{"actornode/old_cookies": "the cookie before"}

// environment returns that of the container in a pod, as the kubelet makes it: $(NAME) is an earlier variable.
func environment(t *testing.T, c core.Container, pod, namespace string) map[string]string {
	env := make(map[string]string)
	reference := regexp.MustCompile(`\$\((\w+)\)`)
	for _, v := range c.Env {
		value := v.Value
		if from := v.ValueFrom; from != nil && from.FieldRef != nil {
			value = map[string]string{"metadata.name": pod, "metadata.namespace": namespace}[from.FieldRef.FieldPath]
			require.NotEmpty(t, value, v.Name)
		} else if from != nil {
			value = secrets[from.SecretKeyRef.Name+"/"+from.SecretKeyRef.Key]
			require.NotEmpty(t, value, v.Name)
		}
		env[v.Name] = reference.ReplaceAllStringFunc(value, func(s string) string {
			name := reference.FindStringSubmatch(s)[1]
			assert.Contains(t, env, name, "%s: a variable that comes later is not known", v.Name)
			return env[name]
		})
	}
	return env
}

// The program accepts the configuration and the variables of a pod, and they agree with the manifests.
func TestProgramReadsManifests(t *testing.T) {
	known := map[string]bool{"ACTORNODE_CONFIG": true, "ACTORNODE_NODE": true}
	for _, s := range config.Default().Settings() {
		known[s.Env()] = true
	}
	for folder := range folders {
		t.Run(folder, func(t *testing.T) {
			c := build(t, folder)
			container, service := c.Sets[0].Spec.Template.Spec.Containers[0], c.Services[0]
			env := environment(t, container, "actornode-2", "shop")
			for name := range env {
				assert.True(t, known[name] || !strings.HasPrefix(name, "ACTORNODE_"), "%s is no variable of the daemon", name)
			}
			require.Equal(t, []string{"actornode.yaml"}, slices.Collect(maps.Keys(c.Maps[0].Data)))
			at := mount(container, "configuration") + "/actornode.yaml"
			require.Equal(t, at, env["ACTORNODE_CONFIG"])
			cfg, err := config.Load(config.Source{File: at, Text: []byte(c.Maps[0].Data["actornode.yaml"]),
				Env: func(k string) (string, bool) { v, ok := env[k]; return v, ok }})
			require.NoError(t, err)

			host := "actornode-2." + service.Name + ".shop.svc.cluster.local"
			assert.Equal(t, "go@"+host, cfg.Name, "the name that the service gives the pod")
			assert.Equal(t, cfg.Name, env["ACTORNODE_NODE"])
			assert.Equal(t, mount(container, "cookie")+"/cookie", cfg.CookieFile)
			i := slices.IndexFunc(c.Sets[0].Spec.Template.Spec.Volumes, func(v core.Volume) bool { return v.Name == "cookie" })
			secret := c.Sets[0].Spec.Template.Spec.Volumes[i].Secret
			assert.Equal(t, "actornode", secret.SecretName)
			assert.EqualValues(t, 0o440, *secret.DefaultMode, "the daemon takes no other in a pod: see readCookie")
			assert.Equal(t, []core.KeyToPath{{Key: "cookie", Path: "cookie"}}, secret.Items)
			var services []string
			for _, p := range service.Spec.Ports {
				switch p.Name {
				case "erlang":
					services = append(services, "_erlang._tcp."+service.Name+".shop.svc.cluster.local")
				case "native":
					services = append(services, "native://_native._tcp."+service.Name+".shop.svc.cluster.local")
				}
			}
			assert.Equal(t, strings.Join(services, ","), env["ACTORNODE_DISCOVERY_DNS_SERVICES"])
			listens := map[string]string{"erlang": cfg.Listen.Erlang, "native": cfg.Listen.Native, "http": cfg.HTTP.Listen}
			for name, address := range listens {
				_, port, err := net.SplitHostPort(address)
				require.NoError(t, err)
				i := slices.IndexFunc(container.Ports, func(p core.ContainerPort) bool { return p.Name == name })
				assert.Equal(t, port, fmt.Sprint(container.Ports[i].ContainerPort), name)
			}
			// The hook before the stop, and then a stop: at most three times drain_timeout and 2 s.
			hook, err := time.ParseDuration(container.Lifecycle.PreStop.Exec.Command[3])
			require.NoError(t, err)
			grace := time.Duration(*c.Sets[0].Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
			assert.GreaterOrEqual(t, grace, hook+3*time.Duration(cfg.DrainTimeout)+2*time.Second)
			assert.GreaterOrEqual(t, hook, time.Duration(cfg.DrainTimeout))
			if strings.Contains(folder, "tls") {
				for name, file := range map[string]string{"tls.crt": cfg.TLS.Cert, "tls.key": cfg.TLS.Key, "ca.crt": cfg.TLS.CA} {
					assert.Equal(t, mount(container, "tls")+"/"+name, file)
				}
			}
		})
	}
}

// mount returns where a container finds a volume.
func mount(c core.Container, volume string) string {
	i := slices.IndexFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return m.Name == volume })
	return c.VolumeMounts[i].MountPath
}

// squeezed returns decoded YAML, with one space where a text has several, or line breaks: kustomize folds anew.
func squeezed(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Join(strings.Fields(v), " ")
	case []any:
		for i := range v {
			v[i] = squeezed(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = squeezed(v[k])
		}
	}
	return v
}

// The alerts are those of the compose file, and the dashboards are complete.
func TestRulesAreThose(t *testing.T) {
	c := build(t, "overlays/tls")
	var want, got any
	text, err := os.ReadFile("../prometheus/rules.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &want))
	text, err = yaml.Marshal(c.Rules[0].Spec)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &got))
	assert.Equal(t, squeezed(want), squeezed(got))
	assert.Equal(t, "actornode", c.Services[0].Name, "the job that the rules name")

	files, err := filepath.Glob("../grafana/*.json")
	require.NoError(t, err)
	var names []string
	for _, d := range c.Dashboards {
		for name, board := range d.Data {
			names = append(names, "../grafana/"+name)
			file, err := os.ReadFile("../grafana/" + name)
			require.NoError(t, err)
			assert.Equal(t, string(file), board)
		}
	}
	assert.ElementsMatch(t, files, names)
}
