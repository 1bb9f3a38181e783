/**
 * Logs of releases, stored permanently: this release reads them as it reads existing logs. A journal is a file of lines:
 * first its turns and their expected outcome, then the events. New ones are added, none changed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/core/model/message.ts';
import type { SessionEvent } from '../../../../src/core/turn/session-event.ts';
import { createTranscript } from '../../../../src/core/turn/transcript.ts';
import { beginTurn, isWaiting } from '../../../../src/core/turn/turn-state.ts';
import { foldTurn } from '../../../../src/objects/session/turn/turn-run.ts';
import { makeRoom, plan, pointer, ends } from '../runner-session.ts';

type Folded = { step: number; phase: string; calls: string[]; open: string[]; recoveries: number; waits: boolean };

type Header = {
  turns: { id: string; state: string; status?: string; reason?: string; before: number; lastEvent?: number }[];
  expected: { folded: Record<string, Folded>; messages: Message[]; ends: string[]; results: string[] };
};

const folder = `${import.meta.dirname}/../journals`;

const journals = readdirSync(folder).map((file) => {
  const [header, ...events] = readFileSync(`${folder}/${file}`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  // Our own files, next to this test.
  return { file, header: header as Header, events: events as SessionEvent[] };
});

function fold(turn: string, events: SessionEvent[]): Folded {
  const state = beginTurn(turn);
  foldTurn(state, events);
  const all = [...state.calls.values()];
  return {
    step: state.step,
    phase: state.phase,
    calls: all.map(({ callId }) => callId),
    open: all.filter(({ answered }) => !answered).map(({ callId }) => callId),
    recoveries: state.recoveries,
    waits: isWaiting(state),
  };
}

/** The tables of this release with these rows. */
async function restore({ header, events }: (typeof journals)[number]) {
  const room = await makeRoom([]);
  for (const { id, at, ...body } of events)
    room.sql.exec('INSERT INTO events (id, at, body) VALUES (?, ?, ?)', id, at, JSON.stringify(body));
  for (const turn of header.turns) {
    room.sql.exec(
      'INSERT INTO turns (id, state, status, reason, plan, input_event, last_event, accepted_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0)',
      ...[turn.id, turn.state, turn.status ?? null, turn.reason ?? null, JSON.stringify({ ...plan, edition: pointer })],
      ...[turn.before, turn.lastEvent ?? null],
    );
  }
  return room;
}

describe.each(journals)('the journal $file', (journal) => {
  const { header, events } = journal;

  it('is numbered without gaps', () => {
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
  });

  it('folds to its expected state', () => {
    expect(Object.fromEntries(header.turns.map(({ id }) => [id, fold(id, events)]))).toEqual(header.expected.folded);
  });

  it('gives its expected conversation', () => {
    const transcript = createTranscript();
    for (const event of events) transcript.apply(event);
    // The expected messages have no model.
    const said = transcript.messages().map((message) => (message.role === 'assistant' ? { ...message, model: undefined } : message));
    expect(said).toEqual(header.expected.messages);
  });

  it('resumes from where a turn was left', async () => {
    const room = await restore(journal);
    await room.restart();
    expect(ends(room.events())).toEqual(header.expected.ends);
    expect(room.events().flatMap((event) => (event.type === 'tool-result' ? [`${event.callId} ${event.code ?? 'ok'}`] : []))).toEqual(
      header.expected.results,
    );
    expect(room.events().slice(0, events.length)).toEqual(events);
  });
});
