"""Teams: agents, and patterns of several, as blocks to build charts of.

Every block is a chart element without `to`: states that are flattened into the chart around, so that policies around
bind them and each state is one checkpoint. The idiom is `from stateward import teams`.
"""

from stateward.teams.agent import AnyTool, Memory, agent
from stateward.teams.chain_of_thought import chain_of_thought, chain_thoughts
from stateward.teams.delegation import FINISH, Delegation, Finish, Result, Standing
from stateward.teams.handoff import Handoff
from stateward.teams.member import Member
from stateward.teams.mind import Mind, Rules
from stateward.teams.placing import placed
from stateward.teams.plan import Plan, PlanStep, Verdict, plan_of
from stateward.teams.plan_act_reflect import plan_act_reflect
from stateward.teams.react import react
from stateward.teams.state import TeamState, answer_of, answered, by_name, record_of, recorded, task_of, told
from stateward.teams.supervisor import supervisor
from stateward.teams.swarm import Peer, swarm
from stateward.teams.trajectory import TrajectoryStep, trajectory
from stateward.teams.tree_of_thoughts import Choice, Thought, Thoughts, thoughts_of, tree_of_thoughts
from stateward.teams.worker import Worked, Worker

__all__ = [
    "FINISH",
    "AnyTool",
    "Choice",
    "Delegation",
    "Finish",
    "Handoff",
    "Member",
    "Memory",
    "Mind",
    "Peer",
    "Plan",
    "PlanStep",
    "Result",
    "Rules",
    "Standing",
    "TeamState",
    "Thought",
    "Thoughts",
    "TrajectoryStep",
    "Verdict",
    "Worked",
    "Worker",
    "agent",
    "answer_of",
    "answered",
    "by_name",
    "chain_of_thought",
    "chain_thoughts",
    "placed",
    "plan_act_reflect",
    "plan_of",
    "react",
    "record_of",
    "recorded",
    "supervisor",
    "swarm",
    "task_of",
    "thoughts_of",
    "told",
    "trajectory",
    "tree_of_thoughts",
]
