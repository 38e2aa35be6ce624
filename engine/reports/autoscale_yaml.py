"""The rules of a scaler as the YAML that a cluster takes: HPA v2, KEDA ScaledObject, Knative, Ray Serve."""

from __future__ import annotations

import re

from engine.errors import InvalidRequest
from engine.records.autoscaling import FleetSettings, Hpa, Keda, Knative, Policy, RayServe, Rules

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
METRICS = {"requests": "http_requests_per_second", "in_flight": "http_requests_in_flight"}
QUERIES = {
    "requests": 'sum(rate(http_requests_total{{deployment="{name}"}}[{window}s]))',
    "in_flight": 'sum(http_requests_in_flight{{deployment="{name}"}})',
}


def manifest(fleet: FleetSettings, rules: Rules, deployment: str) -> str:
    """The YAML for a deployment of that name. Raises InvalidRequest where it is no Kubernetes name.

    The names of the metrics are those of a usual exporter; they have to be what the cluster really has.
    """
    if not LABEL.fullmatch(deployment):
        raise InvalidRequest(
            f"a Kubernetes name has at most 63 of a-z, 0-9 and -, not - at either end; got {deployment[:80]!r}"
        )
    if isinstance(rules, Keda):
        lines = _scaled_object(fleet, rules, deployment)
    elif isinstance(rules, Knative):
        lines = _knative(fleet, rules, deployment)
    elif isinstance(rules, RayServe):
        lines = _ray_serve(fleet, rules, deployment)
    else:
        lines = _autoscaler(fleet, rules, deployment)
    return "\n".join(lines) + "\n"


def _autoscaler(fleet: FleetSettings, rules: Hpa, name: str) -> list[str]:
    return [
        "apiVersion: autoscaling/v2",
        "kind: HorizontalPodAutoscaler",
        "metadata:",
        f"  name: {name}",
        "spec:",
        "  scaleTargetRef:",
        "    apiVersion: apps/v1",
        "    kind: Deployment",
        f"    name: {name}",
        f"  minReplicas: {fleet.min_replicas}",
        f"  maxReplicas: {fleet.max_replicas}",
        "  metrics:",
        *_metric(rules),
        "  behavior:",
        *(f"  {line}" for line in _behaviour(rules)),
    ]


def _metric(rules: Hpa) -> list[str]:
    if rules.signal == "cpu":
        return [
            "    - type: Resource",
            "      resource:",
            "        name: cpu  # of the cpu that the container requests",
            "        target:",
            "          type: Utilization",
            f"          averageUtilization: {round(100 * rules.target)}",
        ]
    return [
        "    - type: Pods",
        "      pods:",
        "        metric:",
        f"          name: {METRICS[rules.signal]}  # as your metrics adapter calls it",
        "        target:",
        "          type: AverageValue",
        f"          averageValue: {_quantity(rules.target)}",
    ]


def _behaviour(rules: Hpa) -> list[str]:
    tolerance = [] if rules.tolerance == 0.1 else [f"    tolerance: {rules.tolerance:g}  # Kubernetes 1.33 and later"]
    return [
        "  scaleUp:",
        f"    stabilizationWindowSeconds: {rules.up_window_s:.0f}",
        *tolerance,
        "    policies:",
        *(line for policy in rules.up for line in _policy(policy)),
        "  scaleDown:",
        f"    stabilizationWindowSeconds: {rules.down_window_s:.0f}",
        *tolerance,
        "    policies:",
        *(line for policy in rules.down for line in _policy(policy)),
    ]


def _policy(policy: Policy) -> list[str]:
    kind = "Pods" if policy.kind == "pods" else "Percent"
    return [
        f"      - type: {kind}",
        f"        value: {policy.value}",
        f"        periodSeconds: {policy.period_s:.0f}",
    ]


def _scaled_object(fleet: FleetSettings, rules: Keda, name: str) -> list[str]:
    query = QUERIES[rules.hpa.signal].format(name=name, window=f"{rules.hpa.metric_window_s:.0f}")
    return [
        "apiVersion: keda.sh/v1alpha1",
        "kind: ScaledObject",
        "metadata:",
        f"  name: {name}",
        "spec:",
        "  scaleTargetRef:",
        f"    name: {name}",
        f"  pollingInterval: {max(rules.polling_s, 1):.0f}",
        f"  cooldownPeriod: {rules.cooldown_s:.0f}",
        f"  minReplicaCount: {fleet.min_replicas}",
        f"  maxReplicaCount: {fleet.max_replicas}",
        "  advanced:",
        "    horizontalPodAutoscalerConfig:",
        "      behavior:",
        *(f"      {line}" for line in _behaviour(rules.hpa)),
        "  triggers:",
        "    - type: prometheus  # or what your cluster offers",
        "      metricType: AverageValue",
        "      metadata:",
        "        serverAddress: http://prometheus.monitoring:9090",
        f"        query: {query}",
        f'        threshold: "{rules.hpa.target:g}"',
        f'        activationThreshold: "{rules.activation:g}"',
    ]


def _quantity(value: float) -> str:
    """A Kubernetes quantity: whole, or in thousandths."""
    return f"{value:.0f}" if value == round(value) else f"{round(1000 * value)}m"


def _knative(fleet: FleetSettings, rules: Knative, name: str) -> list[str]:
    key = "        autoscaling.knative.dev"
    return [
        "apiVersion: serving.knative.dev/v1",
        "kind: Service",
        "metadata:",
        f"  name: {name}",
        "spec:",
        "  template:",
        "    metadata:",
        "      annotations:",
        f"{key}/class: kpa.autoscaling.knative.dev",
        f"{key}/metric: concurrency",
        f'{key}/target: "{rules.target:g}"',
        f'{key}/target-utilization-percentage: "100"  # the target above is what is aimed at',
        f'{key}/min-scale: "{fleet.min_replicas}"',
        f'{key}/max-scale: "{fleet.max_replicas}"',
        f'{key}/window: "{rules.stable_window_s:.0f}s"',
        f'{key}/panic-window-percentage: "{100 * rules.panic_fraction:g}"',
        f'{key}/panic-threshold-percentage: "{100 * rules.panic_threshold:g}"',
    ]


def _ray_serve(fleet: FleetSettings, rules: RayServe, name: str) -> list[str]:
    return [
        "applications:",
        f"  - name: {name}",
        "    deployments:",
        f"      - name: {name}",
        f"        max_ongoing_requests: {fleet.concurrency}",
        "        autoscaling_config:",
        f"          target_ongoing_requests: {rules.target:g}",
        f"          min_replicas: {fleet.min_replicas}",
        f"          initial_replicas: {fleet.first}",
        f"          max_replicas: {fleet.max_replicas}",
        f"          look_back_period_s: {rules.look_back_s:g}",
        f"          upscale_delay_s: {rules.up_delay_s:g}",
        f"          downscale_delay_s: {rules.down_delay_s:g}",
        f"          upscaling_factor: {rules.up_factor:g}",
        f"          downscaling_factor: {rules.down_factor:g}",
    ]
