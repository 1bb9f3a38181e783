/**
 * The name under which the marks of an answer are stored (`core/taint.ts`), so that they are found again when a client resends the answer as
 * part of its history. It is a hash of the key and of what every chat client resends: the user text before the answer and the answer's own text.
 */
import { canonicalJson, sha256Hex } from './hash.ts';
import { type InputPart, type Message, textOfInput } from './message.ts';
import { splitParagraphs } from './paragraphs.ts';

/** `asked`: hash of the user input directly before it (`hashAsked`). */
export type SaidAnswer = { asked: string; text: string; reasoning: string };

/** SHA-256 (hex). However the input was cut into messages and parts, the same texts have the same hash. */
export async function hashAsked(input: readonly InputPart[]): Promise<string> {
  return await sha256Hex(canonicalJson(input.map(textOfInput).filter((text) => text !== '')));
}

/** Clients that keep no reasoning resend the text alone, so an answer with reasoning has two names. */
export async function namesOfAnswer(keyId: string, answer: SaidAnswer): Promise<string[]> {
  if (answer.reasoning === '') return [await nameOf(keyId, answer)];
  return await Promise.all([nameOf(keyId, answer), nameOf(keyId, { ...answer, reasoning: '' })]);
}

async function nameOf(keyId: string, { asked, text, reasoning }: SaidAnswer): Promise<string> {
  return await sha256Hex(canonicalJson([keyId, asked, splitParagraphs(text), splitParagraphs(reasoning)]));
}

/**
 * The names of all assistant messages of a history that say something. null: one of them holds parts that no answer of a session has, so it
 * is not known.
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
