/** What starts a turn besides a person: a delivery to a webhook, or a run of a schedule. */

export type TriggerKind = 'webhook' | 'schedule';

/** The trigger of a delivery. */
export type Trigger = { kind: TriggerKind; name: string };

/** The trigger of a turn, as its plan carries it. `run` counts replays from 1. */
export type TurnTrigger = Trigger & { delivery: string; run: number };
