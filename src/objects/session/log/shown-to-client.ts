/**
 * What chat clients have received of a session, and what not yet: a waiting turn may have continued while no client was reading.
 * Read from the log and the last response; used by `submit-chat.ts`.
 */
import { AskKind } from '../../../core/policy/approval.ts';
import { splitParagraphs } from '../../../core/text/paragraphs.ts';
import { approvalNote, answerEnd, inputNote, readApprovalNote, readInputNote } from '../../../dialects/answer.ts';
import type { Completion } from './completion-store.ts';
import type { ComparableHistory } from '../turn/compare-history.ts';
import type { OpenSession } from '../object/open-session.ts';

export type ShownToClient = {
  /** The newest response; null before the first one. */
  lastAnswer: Completion | null;
  /** Set when that response ended while this turn waited, with this event: no client has received what the turn did since. */
  earlier: { turn: string; after: number } | null;
  /** The texts and calls since that event. */
  unseen: Pick<ComparableHistory, 'assistantTexts' | 'callIds'>;
};

const nothing: ShownToClient['unseen'] = { assistantTexts: [], callIds: new Set() };

export function readShownToClient(openSession: OpenSession, session: string): ShownToClient {
  const last = openSession.completions.last();
  const end = last === null ? null : answerEnd(openSession.log.readAll(openSession.completions.readFrom(last.range)), last.range, session);
  const earlier = end === null || end.waiting === null ? null : { turn: end.waiting, after: end.event };
  return { lastAnswer: last, earlier, unseen: earlier === null ? nothing : outputShownAfter(openSession, earlier.after) };
}

/** Returns the assistant's paragraphs, and the calls sent to the client, after an event that ended a step. */
export function outputShownAfter({ log }: Pick<OpenSession, 'log'>, after: number): Pick<ComparableHistory, 'assistantTexts' | 'callIds'> {
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
  return { assistantTexts: steps.flatMap(splitParagraphs), callIds: calls };
}

/** True when the paragraph is exactly a note of this service about a pending question. Similar text is the model's. */
export function isServiceNote({ waits }: Pick<OpenSession, 'waits'>, session: string, paragraph: string): boolean {
  const callId = readInputNote(paragraph) ?? readApprovalNote(paragraph);
  if (callId === null) return false;
  return waits.allOf(callId).some((wait) => {
    if (wait.kind === 'input') return paragraph === inputNote({ ...wait, question: wait.text }, session);
    if (wait.kind !== 'approval') return false;
    const notes = [...wait.earlier, wait.reason].map((reason, index) => ({ ...wait, reason, round: index + 1 }));
    // The kinds of earlier questions are not stored.
    const ways = AskKind.options.map((kind) => ({ kind, entry: wait.entry }));
    return notes.some((note) => ways.some((way) => paragraph === approvalNote({ ...note, ways: way }, session)));
  });
}
