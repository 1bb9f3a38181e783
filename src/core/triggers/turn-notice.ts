/** What a session tells of its turns to whoever is to hear of them: stored with the event that it is about, told at least once. */
import type { Pending } from '../approval.ts';
import type { Usage } from '../chat-event.ts';
import type { TurnTrigger } from './delivery.ts';
import type { TriggerEvent } from './webhook.ts';

export type TurnNotice = {
  session: string;
  /** Counts the notices of one session: with it, a notice that comes twice is known again. */
  sequence: number;
  type: TriggerEvent;
  turn: string;
  /** Milliseconds since the epoch. */
  at: number;
  agent?: string;
  trigger?: TurnTrigger;
  /** As in the turn's answer (`ports/session.ts`). */
  status: 'completed' | 'failed' | 'cancelled' | 'interrupted' | 'waiting';
  reason: string;
  /** Of the last step; at most `limits.maxCallbackTextBytes`, `truncated` when it is more. */
  text: string;
  truncated?: true;
  pending?: Pending[];
  problem?: Record<string, unknown>;
  usage: Usage;
};
