import pytest

from engine.errors import InvalidRequest
from engine.records.autoscaling import FleetSettings, Hpa, Keda, Knative, RayServe
from engine.reports.autoscale_yaml import manifest

HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: model
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: model
  minReplicas: 2
  maxReplicas: 20
  metrics:
    - type: Resource
      resource:
        name: cpu  # of the cpu that the container requests
        target:
          type: Utilization
          averageUtilization: 60
  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
      policies:
        - type: Pods
          value: 4
          periodSeconds: 15
        - type: Percent
          value: 100
          periodSeconds: 15
    scaleDown:
      stabilizationWindowSeconds: 300
      policies:
        - type: Percent
          value: 100
          periodSeconds: 15
"""


def test_an_hpa_with_the_defaults():
    assert manifest(FleetSettings(max_replicas=20), Hpa(), "model") == HPA


def test_a_metric_per_pod_and_a_tolerance():
    text = manifest(FleetSettings(), Hpa(signal="in_flight", target=0.8, tolerance=0.05), "model")
    assert "          type: AverageValue\n          averageValue: 800m\n" in text
    assert text.count("tolerance: 0.05") == 2


def test_a_scaled_object():
    text = manifest(FleetSettings(min_replicas=0), Keda(cooldown_s=120), "a-model")
    assert text.startswith("apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\n")
    for line in (
        "  minReplicaCount: 0\n",
        "  cooldownPeriod: 120\n",
        '        threshold: "30"\n',
        'query: sum(rate(http_requests_total{deployment="a-model"}[60s]))\n',
        "      behavior:\n        scaleUp:\n",
    ):
        assert line in text


@pytest.mark.parametrize("name", ["", "Model", "-a", "a\nkind: Secret", "a" * 64])
def test_what_is_no_name_does_not_reach_the_yaml(name):
    with pytest.raises(InvalidRequest, match="Kubernetes name"):
        manifest(FleetSettings(), Hpa(), name)


def test_knative_and_ray_serve():
    text = manifest(FleetSettings(min_replicas=0), Knative(target=7), "model")
    assert text.startswith("apiVersion: serving.knative.dev/v1\nkind: Service\n")
    assert '        autoscaling.knative.dev/target: "7"\n' in text
    assert '        autoscaling.knative.dev/panic-threshold-percentage: "200"\n' in text
    text = manifest(FleetSettings(concurrency=5), RayServe(), "model")
    assert "          target_ongoing_requests: 2\n          min_replicas: 2\n          initial_replicas: 2\n" in text
