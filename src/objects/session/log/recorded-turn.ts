/** Reads what is recorded of one turn, for its replay: its events, and the conversation before it as its model had it. */
import { MB } from '../../../core/limits/units.ts';
import { Problem } from '../../../core/problem.ts';
import { createGathering } from '../../../core/turn/gathered-tools.ts';
import { createTranscript } from '../../../core/turn/transcript.ts';
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
    transcript.apply(event);
    gathering.apply(event);
  }
  const history = transcript.messages();
  requireSmall(history);
  const events = [...eventsOfTurn(turn, log.readAll(before, lastEvent))];
  requireSmall(events);
  const asked = turns.askedOf(turn);
  return { setup: meta.setup, ...(asked !== null && { asked }), history, gathered: gathering.list(), events };
}

function requireSmall(part: unknown): void {
  const { length } = JSON.stringify(part);
  if (length <= maxRecordedCharacters) return;
  throw new Problem('body_too_large', `The recording has ${length} characters, and at most ${maxRecordedCharacters} can be replayed.`);
}
