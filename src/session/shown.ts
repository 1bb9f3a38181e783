/**
 * What chat clients have been shown of a session, and what not yet: a turn that waited may have gone on while nobody of them
 * watched. Read from the log and the last answer; `submit-chat.ts` decides with it.
 */
import { splitParagraphs } from '../core/paragraphs.ts';
import { approvalNote, answerEnd, inputNote, readApprovalNote, readInputNote } from '../dialects/answer.ts';
import type { Completion } from './completion-store.ts';
import type { Told } from './history.ts';
import type { Room } from './room.ts';

export type Shown = {
  /** The answer that was asked for last. */
  last: Completion | null;
  /** It ended while this turn waited, with this event: what the turn said and did since then nobody was shown. */
  earlier: { turn: string; after: number } | null;
  /** Told since that end. */
  unseen: Pick<Told, 'said' | 'calls'>;
};

const nothing: Shown['unseen'] = { said: [], calls: new Set() };

export function readShown(room: Room, session: string): Shown {
  const last = room.completions.last();
  const end = last === null ? null : answerEnd(room.log.readAll(room.completions.readFrom(last.range)), last.range, session);
  const earlier = end === null || end.waiting === null ? null : { turn: end.waiting, after: end.event };
  return { last, earlier, unseen: earlier === null ? nothing : toldSince(room, earlier.after) };
}

/** What the assistant said, and the calls that the client was asked to run, after an event that ended a step. */
export function toldSince({ log }: Pick<Room, 'log'>, after: number): Pick<Told, 'said' | 'calls'> {
  const steps: string[] = [];
  const calls = new Set<string>();
  for (const event of log.readAll(after)) {
    switch (event.type) {
      case 'step-start':
        steps.push('');
        break;
      case 'step-restart':
        steps[Math.max(0, steps.length - 1)] = '';
        break;
      case 'text-delta':
        steps[Math.max(0, steps.length - 1)] = (steps.at(-1) ?? '') + event.text;
        break;
      case 'client-tool-required':
        calls.add(event.callId);
        break;
      default:
        break;
    }
  }
  return { said: steps.flatMap(splitParagraphs), calls };
}

/** Our own word on what waits, to the letter; anything else that reads like it is the model's. */
export function isOwnNote({ approvals, inputs }: Pick<Room, 'approvals' | 'inputs'>, session: string, paragraph: string): boolean {
  const asking = readInputNote(paragraph);
  if (asking !== null) return inputs.of(asking).some((asked) => paragraph === inputNote(asked, session));
  const callId = readApprovalNote(paragraph);
  const approval = callId === null ? null : approvals.get(callId);
  if (approval === null) return false;
  const notes = [...approval.earlier, approval.reason].map((reason, index) => ({ ...approval, reason, round: index + 1 }));
  return [{ ...approval, reason: null, round: 1 }, ...notes].some((note) => paragraph === approvalNote(note, session));
}
