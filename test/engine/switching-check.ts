/**
 * Checks the request to a provider in a conversation that other providers took part in: the same text in the same order, calls under the
 * current names, results with their calls, valid ids, the provider's own opaque data unchanged, and no other provider's. Compares the
 * script (`switching-turn.ts`) with what the strict fake parsed.
 */
import { modelContent } from '../../src/core/tools/model-result.ts';
import { contentText, textResult } from '../../src/core/tools/tool.ts';
import { expect } from 'vitest';
import type { UnderstoodMessage } from '../fakes/upstreams/upstream.ts';
import { type Exchange, inputImage, resultImage, type Speaker, type Told, type ToldReply } from './switching-turn.ts';

type HeardReply = Extract<UnderstoodMessage, { role: 'assistant' }>;
type HeardCall = HeardReply['calls'][number];

/** What is specific to an API, according to its documentation. */
export type Habits = {
  ids: RegExp | null;
  /** The parts of a reply that only its provider may get back: signatures, encrypted reasoning. */
  secrets(reply: string): string[];
  /** What an assistant message contains besides its text, in order. `own`: from this very model; `fits`: its calls are unchanged. */
  returns(message: ToldReply, own: boolean, fits: boolean): string[];
  /** The first call of a reply is signed: it is returned under the name it had, and in later turns without what was signed. */
  signsCalls?: true;
  /** It is sent the reasoning of other models, too. */
  takesReasoning?: true;
  /** Text beside calls is the plan. */
  plansBesideCalls?: true;
};

/** Throws at the first difference. */
export function checkExchange(exchange: Exchange, habitsOf: (speaker: Speaker) => Habits): void {
  const { with: speaker, body, understood, told, wireNames } = exchange;
  const habits = habitsOf(speaker);
  const current = [...wireNames.values()];
  expect(understood.model).toBe(speaker.model);
  expect(understood.streamed).toBe(true);
  expect(understood.system.startsWith('Be brief.')).toBe(true);
  if (speaker.speaksText === true) for (const name of current) expect(understood.system).toContain(`"name":"${name}"`);
  else expect(understood.tools).toEqual(current);

  const heard = speaker.speaksText === true ? understood.messages.map(readTextMessage) : withoutShownImages(understood.messages);
  expect(heard.map(({ role }) => role)).toEqual(told.map(({ role }) => role));
  const calls: HeardCall[] = [];
  const turnAtHand = told.findLastIndex(({ role }) => role === 'user');
  for (const [index, expected] of told.entries()) {
    const message = heard[index] as UnderstoodMessage;
    if (expected.role === 'user' && message.role === 'user') checkUser(message, expected);
    if (expected.role === 'assistant' && message.role === 'assistant') {
      checkReply(message, expected, { speaker, habits, wireNames, atHand: index > turnAtHand });
      calls.push(...message.calls);
    }
    if (expected.role === 'tool' && message.role === 'tool') {
      const before = heard[index - 1];
      checkResults(message, expected, before?.role === 'assistant' ? before.calls : []);
    }
  }
  if (habits.ids !== null) {
    for (const { id } of calls) expect(id).toMatch(habits.ids);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  }
  checkImages(body, told);
  checkSecrets(exchange, habits, habitsOf);
}

function checkUser({ text, images }: Extract<UnderstoodMessage, { role: 'user' }>, told: Extract<Told, { role: 'user' }>): void {
  expect(withoutMarks(text)).toBe(told.text);
  expect(images + marksIn(text)).toBe(told.images);
}

type ReplyContext = { speaker: Speaker; habits: Habits; wireNames: Exchange['wireNames']; atHand: boolean };

function checkReply(heard: HeardReply, told: ToldReply, { speaker, habits, wireNames, atHand }: ReplyContext): void {
  const { text, calls = [] } = told.says;
  const own = told.by === speaker;
  expect(heard.text).toBe(habits.plansBesideCalls === true && calls.length > 0 ? '' : text);
  expect(heard.calls).toHaveLength(calls.length);
  for (const [index, { name, canonical, arguments: args }] of calls.entries()) {
    const call = heard.calls[index] as HeardCall;
    const isSigned = index === 0 && own && atHand && habits.signsCalls === true;
    expect(call.arguments).toEqual(args);
    if (canonical !== null) expect(call.name).toBe(isSigned ? name : wireNames.get(canonical));
    // Its own id where it has one (an invalid name may be part of an invalid id), and never that of another provider.
    if (call.id !== null && (!own || canonical !== null)) expect(told.reply.includes(JSON.stringify(call.id))).toBe(own);
  }
  const [first] = calls;
  const fits = atHand || first === undefined || first.canonical === null || first.name === wireNames.get(first.canonical);
  expect(heard.returned).toEqual(habits.returns(told, own, fits));
}

function checkResults(
  { results }: Extract<UnderstoodMessage, { role: 'tool' }>,
  told: Extract<Told, { role: 'tool' }>,
  calls: readonly HeardCall[],
): void {
  expect(results).toHaveLength(told.results.length);
  for (const [index, expected] of told.results.entries()) {
    const result = results[index];
    const call = calls[index];
    expect(result?.id).toBe(call?.id);
    if (result?.name != null) expect(result.name).toBe(call?.name);
    // On wires without a field for it, the text says that a result is an error.
    const text = withoutMarks(result?.text ?? '').replace(/^Error: /, '');
    if (expected.canonical === null) expect(text.startsWith(expected.text)).toBe(true);
    else expect(text.replace(/\n*(?=\[Removed before)/, '\n')).toBe(readByModel(expected.text));
  }
}

/** Without characters that a person cannot see, and with the note about them; wires separate the two in their own ways. */
function readByModel(text: string): string {
  return modelContent(textResult(text))
    .map((block) => contentText([block]))
    .join('\n');
}

/** Throws with the name if the value is missing. */
function checkImages(body: string, told: readonly Told[]): void {
  const results = told.flatMap((message) => (message.role === 'tool' ? message.results : [])).filter(({ image }) => image);
  const inputs = told.reduce((sum, message) => sum + (message.role === 'user' ? message.images : 0), 0);
  const shown = body.split(inputImage).length + body.split(resultImage).length - 2;
  expect(shown + marksIn(body)).toBeGreaterThanOrEqual(inputs + results.length);
}

function checkSecrets({ with: speaker, body, told }: Exchange, { takesReasoning }: Habits, habitsOf: (speaker: Speaker) => Habits): void {
  for (const message of told) {
    if (message.role !== 'assistant' || message.by === speaker) continue;
    // Two accounts of one API are distinguished by what each message returned: their fakes use the same secrets.
    const isSameApi = message.by.access.kind === speaker.access.kind;
    const secrets = isSameApi ? [] : habitsOf(message.by).secrets(message.reply);
    for (const secret of secrets) expect(body).not.toContain(secret);
    if (message.says.reasoning !== undefined && takesReasoning !== true) expect(body).not.toContain(message.says.reasoning);
  }
}

// ---- Reading ----

const mark = /\[image: [^\]]*\]/g;

function marksIn(text: string): number {
  return text.match(mark)?.length ?? 0;
}

function withoutMarks(text: string): string {
  return text.replace(mark, '').trim();
}

/** Where results contain only text, their images follow in a user message. */
function withoutShownImages(messages: readonly UnderstoodMessage[]): UnderstoodMessage[] {
  return messages.filter(
    (message, index) =>
      !(message.role === 'user' && message.text.startsWith('[From the result of ') && messages[index - 1]?.role === 'tool'),
  );
}

/** Calls and results where they are text. */
function readTextMessage(message: UnderstoodMessage): UnderstoodMessage {
  if (message.role === 'assistant') {
    const [text = '', ...blocks] = message.text.split('<tool_call>');
    const calls = blocks.map((block): HeardCall => {
      const { name, arguments: args } = JSON.parse(block.replace(/<\/tool_call>\s*$/, ''));
      return { id: null, name, arguments: args };
    });
    return { ...message, text: text.trim(), calls };
  }
  if (message.role !== 'user' || !message.text.startsWith('<tool_response>')) return message;
  const blocks = [...message.text.matchAll(/<tool_response>(.*?)<\/tool_response>/gs)];
  const results = blocks.map(([, json = '']) => {
    const { name, content } = JSON.parse(json);
    return { id: null, name, text: content };
  });
  return { role: 'tool', results };
}
