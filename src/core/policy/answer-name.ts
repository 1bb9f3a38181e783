/**
 * The name under which the taint marks of an answer are stored (`core/policy/taint.ts`), so that they are found when a client resends the
 * answer as part of its history. It is a hash of the key and of what every chat client resends: the user text before the answer and
 * the text of the answer.
 */
import { canonicalJson, sha256Hex } from '../hash.ts';
import { type InputPart, type Message, textOfInput } from '../model/message.ts';
import { splitParagraphs } from '../text/paragraphs.ts';

/** `asked`: hash of the user input directly before the answer (`hashAsked`). */
export type AnswerContent = { asked: string; text: string; reasoning: string };

/** Returns a SHA-256 (hex) that depends only on the text, not on how the input was split into messages and parts. */
export async function hashAsked(input: readonly InputPart[]): Promise<string> {
  return await sha256Hex(canonicalJson(input.map(textOfInput).filter((text) => text !== '')));
}

/** Clients that store no reasoning resend only the text, so an answer with reasoning has two names. */
export async function namesOfAnswer(keyId: string, answer: AnswerContent): Promise<string[]> {
  if (answer.reasoning === '') return [await nameOf(keyId, answer)];
  return await Promise.all([nameOf(keyId, answer), nameOf(keyId, { ...answer, reasoning: '' })]);
}

async function nameOf(keyId: string, { asked, text, reasoning }: AnswerContent): Promise<string> {
  return await sha256Hex(canonicalJson([keyId, asked, splitParagraphs(text), splitParagraphs(reasoning)]));
}

/**
 * Returns the names of all non-empty assistant messages of a history. null: a message has parts that no answer of a session has, so
 * its name is unknown.
 */
export async function namesOfHistory(keyId: string, history: readonly Message[]): Promise<string[] | null> {
  const names: Promise<string>[] = [];
  let asked: InputPart[] = [];
  for (const message of history) {
    if (message.role === 'user') asked.push(...message.parts);
    if (message.role === 'tool') asked = [];
    if (message.role !== 'assistant') continue;
    if (message.parts.some(({ type }) => type === 'native')) return null;
    const said = { text: textOf(message, 'text'), reasoning: textOf(message, 'reasoning') };
    const before = asked;
    if (said.text.trim() !== '' || said.reasoning.trim() !== '')
      names.push(hashAsked(before).then((hash) => nameOf(keyId, { asked: hash, ...said })));
    asked = [];
  }
  return [...new Set(await Promise.all(names))];
}

function textOf({ parts }: Extract<Message, { role: 'assistant' }>, kind: 'text' | 'reasoning'): string {
  return parts.map((part) => (part.type === kind ? part.text : '')).join('');
}
