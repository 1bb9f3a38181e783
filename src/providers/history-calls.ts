/**
 * Maps call ids to the form that a provider accepts. The log stores our ids next to the provider's own. A provider receives its own id if
 * that is safe, otherwise one derived deterministically from ours (reference: OpenAI 40 characters, Anthropic `[A-Za-z0-9_-]`, Mistral nine
 * letters or digits, Kimi its own form).
 */
import type { Message, ToolCallPart } from '../core/model/message.ts';
import type { Profile } from '../core/model/provider-profile.ts';
import { splitModelRef } from '../core/turn/agent.ts';
import type { Json } from '../core/json/wire-value.ts';

type IdRules = Pick<Profile, 'callIdLength' | 'maxCallIdLength' | 'keepCallIds'>;

/**
 * Returns a function from our call id to the id for `provider`, for every call of the conversation. Ids of other providers are never sent,
 * since some providers reject them.
 */
export function createCallIds(messages: readonly Message[], provider: string, profile: IdRules): (callId: string) => string {
  const sent = new Map<string, string>();
  const used: Used = { ids: new Set(), salts: new Map() };
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const isForeign = message.model !== undefined && splitModelRef(message.model).provider !== provider;
    const inMessage = new Set<string>();
    for (const part of message.parts) {
      if (part.type !== 'tool-call') continue;
      const own = isForeign ? '' : (part.nativeId ?? '');
      // An id form that the model must see again may repeat between turns, but must be unique within one message.
      const keeps = own !== '' && (profile.keepCallIds ? !inMessage.has(own) : fits(own, profile) && !used.ids.has(own));
      const id = keeps ? own : makeId(part.callId, profile, used);
      sent.set(part.callId, id);
      used.ids.add(id);
      inMessage.add(id);
    }
  }
  return (callId) => sent.get(callId) ?? makeId(callId, profile, used);
}

function fits(id: string, { callIdLength, maxCallIdLength }: IdRules): boolean {
  return callIdLength === null
    ? id.length <= maxCallIdLength && /^[A-Za-z0-9_-]+$/.test(id)
    : id.length === callIdLength && /^[A-Za-z0-9]+$/.test(id);
}

/** `salts`: the salt of the last id derived from a call id, since client histories may repeat one thousands of times. */
type Used = { ids: Set<string>; salts: Map<string, number> };

function makeId(callId: string, profile: IdRules, { ids, salts }: Used): string {
  if (profile.callIdLength === null && fits(callId, profile) && !ids.has(callId)) return callId;
  const length = profile.callIdLength ?? 24;
  for (let salt = salts.get(callId) ?? 0; ; salt++) {
    const id = digest(`${salt}:${callId}`, length);
    if (ids.has(id)) continue;
    salts.set(callId, salt);
    return id;
  }
}

/** FNV-1a in several lanes as base 36; only needs to be collision-free. */
function digest(text: string, length: number): string {
  let id = '';
  for (let lane = 0; id.length < length; lane++) {
    let hash = 0x811c9dc5 ^ lane;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    // The last bits of FNV are weak if texts differ at the end.
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    id += ((hash ^ (hash >>> 13)) >>> 0).toString(36).padStart(7, '0');
  }
  return id.slice(0, length);
}

/** The part of invalid call arguments that the model sees later: enough to recognize them. */
const maxReplayedRawLength = 2_000;

/**
 * A letter or `_`, then letters, digits, `_` and `-`, at most 64: accepted by every API (reference §8.1), and satisfied by every wire name.
 */
export function historyName(requested: string): string {
  if (requested === '') return 'unknown_tool';
  return requested
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .replace(/^(?![a-zA-Z_])/, '_')
    .slice(0, 64);
}

/**
 * Returns an object. For invalid arguments it contains their beginning under a descriptive name, as others do (vercel/ai#14470): without
 * it, the model would not know what the call's result refers to (openclaw/openclaw#61956).
 */
export function historyInput({ arguments: args, raw = '' }: ToolCallPart): Json {
  if (args !== null) return args;
  return raw === '' ? {} : { rawInvalidInput: raw.slice(0, maxReplayedRawLength).toWellFormed() };
}

/** The same as JSON text. */
export function historyArguments(call: ToolCallPart): string {
  return JSON.stringify(historyInput(call));
}
