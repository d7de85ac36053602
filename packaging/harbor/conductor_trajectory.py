"""A run of Conductor (`conductor solve --json`) in ATIF, the form in which Harbor keeps and shows what an agent did.

https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md
"""

import json

from harbor.models.trajectories import Agent, FinalMetrics, Metrics, Observation, ObservationResult, Step, Trajectory


def counts(tokens):
    """Prompt, cached and completion tokens, as ATIF and Harbor's results count them: the prompt with what was cached, the completion with its reasoning."""
    prompt = tokens["uncachedInput"] + tokens["cacheRead"] + tokens["cacheWrite"]
    return prompt, tokens["cacheRead"], tokens["output"] + tokens["reasoning"]


def metrics(spent):
    prompt, cached, completion = counts(spent["tokens"])
    return Metrics(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion, cost_usd=spent["usd"])


def verdict_of(round):
    verdict = round["verdict"]
    if verdict is None:
        return None
    return Observation(results=[ObservationResult(content=f"{verdict['outcome']}: {verdict['reason']}", extra={"command": verdict["command"], "notes": verdict["notes"]})])


def trajectory(run, version):
    """The question, then for each round the plan and what each worker said. The last worker of a round reads what the tests say of its answer."""
    steps = [Step(step_id=1, source="user", message=run["question"], timestamp=run["acceptedAt"])]

    def add(**fields):
        steps.append(Step(step_id=len(steps) + 1, source="agent", **fields))

    for number, round in enumerate(run["rounds"]):
        if round["planning"]:
            add(model_name=run["planner"]["id"] or run["conductor"], message=json.dumps(round["plan"]), metrics=metrics(round["planning"]), extra={"round": number, "does": "plan"})
        for index, step in enumerate(round["steps"]):
            is_last = index == len(round["steps"]) - 1
            add(
                model_name=step["worker"], message=step["output"] or step["failure"] or "", metrics=metrics(step), observation=verdict_of(round) if is_last else None,
                extra={"round": number, "does": step["subtask"], "reads": step["reads"], "state": step["state"], "handed_on": step["handedOn"]},
            )
    prompt, cached, completion = counts(run["spent"]["tokens"])
    return Trajectory(
        session_id=run["runId"], agent=Agent(name="conductor", version=version or "unknown"), steps=steps,
        final_metrics=FinalMetrics(total_prompt_tokens=prompt, total_cached_tokens=cached, total_completion_tokens=completion, total_cost_usd=run["spent"]["usd"], total_steps=len(steps)),
    )
