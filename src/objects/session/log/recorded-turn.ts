/** Reads what is recorded of one turn, for its replay: its events, and the conversation before it as its model had it. */
import { charactersPerToken, MB } from '../../../core/limits/units.ts';
import { Problem } from '../../../core/problem.ts';
import { createGathering } from '../../../core/turn/gathered-tools.ts';
import { createTranscript } from '../../../core/turn/transcript.ts';
import type { SessionEvent } from '../../../core/turn/session-event.ts';
import type { RecordedConversation } from '../../../ports/session.ts';
import type { OpenSession } from '../object/open-session.ts';
import { eventsOfTurn } from '../pending/pending.ts';

/** It is sent in one RPC, which carries 32 MB. */
const maxRecordedCharacters = 12 * MB;

export function readRecordedTurn({ meta, turns, log }: OpenSession, turn: string): RecordedConversation {
  const row = turns.get(turn);
  if (row === null) throw new Problem('not_found', 'There is no such turn in this session.');
  const { before, lastEvent } = row;
  if (before === null || lastEvent === null) throw new Problem('conflict', 'The turn has not ended yet.');
  const transcript = createTranscript();
  const gathering = createGathering();
  for (const event of log.readAll(0, before)) {
    // Summaries replace what is old. The log may have more than the memory of an object.
    if (event.type === 'turn-start') requireSmall(transcript.tokens() * charactersPerToken);
    transcript.apply(event);
    gathering.apply(event);
  }
  const history = transcript.messages();
  const events: SessionEvent[] = [];
  let read = 0;
  for (const event of eventsOfTurn(turn, log.readAll(before, lastEvent))) {
    read += JSON.stringify(event).length;
    requireSmall(read);
    events.push(event);
  }
  const asked = turns.askedOf(turn);
  const recorded = { setup: meta.setup, ...(asked !== null && { asked }), history, gathered: gathering.list(), events };
  requireSmall(JSON.stringify(recorded).length);
  return recorded;
}

function requireSmall(length: number): void {
  if (length <= maxRecordedCharacters) return;
  const detail = `The recording and the conversation before it have more than ${maxRecordedCharacters} characters, and cannot be replayed.`;
  throw new Problem('body_too_large', detail);
}
