/**
 * Writes an assistant message as parts of Gemini's API, in the order in which they end: text and thoughts in pieces, calls whole. A part carries
 * what models need back of what is before it (`signature.ts`). A call waits for the next change, which may be data that belongs to it.
 * `isOwnWire`: data of the provider stays in the provider's form, as `providers/gemini/reply.ts` stored it.
 */
import { isRecord, type Json, recordOf } from '../../core/json/wire-value.ts';
import type { NativePart } from '../../core/model/message.ts';
import { inputOf } from '../anthropic/blocks.ts';
import type { AnswerCall, AnswerMessage, AnswerPart, MessageChange } from '../answer-message.ts';
import type { AnswerIdentity } from '../dialect.ts';
import { packThoughts, type ThoughtPart } from './signature.ts';

type PartIdentity = Pick<AnswerIdentity, 'isOwnWire' | 'echo'>;
type HeldCall = { call: AnswerCall; before: ThoughtPart[]; after: NativePart[] };

/** `write` returns the parts that a change completes, `end` the rest. */
export function createPartWriter(message: AnswerMessage, { isOwnWire, echo }: PartIdentity) {
  const showsThoughts = isOwnWire === true || echo?.includeThoughts === true;
  const begun = new Set<number>();
  let before: ThoughtPart[] = [];
  let held: HeldCall | null = null;

  const signed = (part: Json, after: NativePart[] = [], thoughts = before): Json => {
    const thoughtSignature = packThoughts({ before: thoughts, after });
    if (thoughts === before) before = [];
    return { ...part, ...(thoughtSignature !== null && { thoughtSignature }) };
  };
  const release = (): Json[] => {
    if (held === null) return [];
    const { call, ...thoughts } = held;
    held = null;
    const { id, name } = call;
    const part = { functionCall: { id, name, args: inputOf(call) } };
    const own = recordOf(thoughts.after.find(isOwn)?.data).thoughtSignature;
    return [own === undefined ? signed(part, thoughts.after, thoughts.before) : { ...part, thoughtSignature: own }];
  };
  const isOwn = ({ data }: NativePart): boolean => isOwnWire === true && recordOf(data).api === 'gemini';
  const hold = (call: AnswerCall): Json[] => {
    if (begun.has(call.index)) return [];
    begun.add(call.index);
    const parts = release();
    held = { call, before, after: [] };
    before = [];
    return parts;
  };
  const addNative = (part: NativePart): Json[] => {
    const { of, part: whole, thoughtSignature } = recordOf(part.data);
    const isCalls = held !== null && (!isOwn(part) || of === 'call');
    if (held !== null && isCalls) held.after.push(part);
    else if (!isOwn(part)) before.push(part);
    if (isCalls || !isOwn(part)) return [];
    if (isRecord(whole)) return [...release(), whole];
    return [...release(), { text: '', ...(of === 'thought' && { thought: true }), thoughtSignature }];
  };
  const addThought = (text: string): Json[] => {
    const last = before.at(-1);
    if (last?.type === 'reasoning') last.text += text;
    else before.push({ type: 'reasoning', text });
    return showsThoughts ? [{ text, thought: true }] : [];
  };

  const write = (change: MessageChange | AnswerPart): Json[] => {
    switch (change.type) {
      case 'text':
      case 'refusal':
        return [...release(), signed({ text: change.text })];
      case 'reasoning':
        return [...release(), ...addThought(change.text)];
      case 'native':
        return addNative(change.part);
      case 'image':
        return [...release(), signed({ inlineData: { mimeType: change.mediaType, data: change.data } })];
      case 'call':
      case 'call-end':
        return hold(change.call);
      default:
        return [];
    }
  };
  return {
    write,
    end(): Json[] {
      const rest = message.parts().flatMap((part) => (part.type === 'call' ? hold(part.call) : []));
      const parts = [...rest, ...release()];
      const last = signed({ text: '' });
      return 'thoughtSignature' in last ? [...parts, last] : parts;
    },
  };
}
