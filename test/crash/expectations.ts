/** What scenarios expect after the restart, beyond the general invariants (`invariants.ts`). */
import { expect } from 'vitest';
import type { StreamEvent } from '../e2e/service.ts';
import type { Cell } from './cell.ts';
import type { ModelRequest } from './scripted-model.ts';

export async function saidOnce(cell: Cell, text: string): Promise<void> {
  const answers = (await cell.messages()).filter(({ role }) => role === 'assistant');
  const said = answers.flatMap(({ parts }) => parts.filter(({ type }) => type === 'text')).map((part) => part.text);
  expect(
    said.filter((part) => part !== ''),
    'what the model said, once',
  ).toEqual([text]);
}

/** A `step-restart` names the event from which readers drop the text of the interrupted attempt. */
export async function tookBackWhatWasSaid(cell: Cell): Promise<void> {
  const events = await cell.events();
  const restart = events.find(({ type }) => type === 'step-restart');
  const begun = events.find(({ type }) => type === 'step-start');
  expect(restart?.data.from).toBe((begun?.id ?? 0) + 1);
  expect(events.filter(({ type }) => type === 'turn-resume')).toHaveLength(1);
}

/** The unsafe call was not repeated, and the model was sent its unknown outcome. */
export async function toldUnknown(cell: Cell): Promise<void> {
  const events = await cell.events();
  const [safe, unsafe] = callsMade(events).map((callId) => resultOf(events, callId));
  expect(safe?.data).toMatchObject({ isError: false });
  expect(unsafe?.data).toMatchObject({ isError: true, code: 'outcome_unknown' });
  const told =
    cell
      .requests('hello')
      .at(-1)
      ?.messages.filter(({ role }) => role === 'tool') ?? [];
  expect(told).toHaveLength(2);
  expect(JSON.stringify(told.at(-1)?.content)).toContain('may or may not');
}

export async function allSucceeded(cell: Cell): Promise<void> {
  for (const { data } of results(await cell.events())) expect(data).toMatchObject({ isError: false });
}

/** Each result in a request to the model belongs to a call in it, and each call has its result. */
export function pairsAreWhole({ messages }: ModelRequest): void {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const answers = messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id);
  expect(answers).toEqual(calls);
}

/** A request to the model has all turns from some turn on; the earlier ones are in the summary. */
export function turnsAreWhole(cell: Cell, name: string): void {
  const shown = JSON.stringify(
    cell
      .requests(name)
      .at(-1)
      ?.messages.filter(({ role }) => role === 'user'),
  );
  const present = cell.said.map((said) => shown.includes(`#${cell.tag}.${said.name}#`));
  const first = present.indexOf(true);
  expect(first, 'older turns were summarized').toBeGreaterThan(0);
  expect(present.slice(first)).toEqual(present.slice(first).map(() => true));
}

export function resultOf(events: StreamEvent[], callId: unknown): StreamEvent | undefined {
  return results(events).find(({ data }) => data.callId === callId);
}

export function results(events: StreamEvent[]): StreamEvent[] {
  return events.filter(({ type }) => type === 'tool-result');
}

/** Ids of calls in call order, of a log in which no step was restarted. */
export function callsMade(events: StreamEvent[]): unknown[] {
  return events.filter(({ type }) => type === 'tool-input-start').map(({ data }) => data.callId);
}

export function asksIn(events: StreamEvent[]): string[] {
  return events.filter(({ type }) => type === 'approval-required').map(({ data }) => String(data.callId));
}
