/** Builders of reply events and log events, for the tests of this folder. */
import type { ChatEvent, FinishReason } from '../../src/core/model/chat-event.ts';
import type { SessionEvent, SessionEventBody } from '../../src/core/turn/session-event.ts';

// ---- A provider's reply ----

export const say = (text: string): ChatEvent => ({ type: 'text', text });
export const refuse = (text: string): ChatEvent => ({ type: 'text', text, refusal: true });
export const think = (text: string): ChatEvent => ({ type: 'reasoning', text });
export const native = (provider: string, data: unknown): ChatEvent => ({ type: 'native', provider, data });
export const finish = (reason: FinishReason = 'stop'): ChatEvent => ({ type: 'finish', reason, raw: null });

/** The index of a call, and its three kinds of event. `raw` must be JSON or empty. */
export const startCall = (call: number, name: string, nativeId = `id_${call}`): ChatEvent => ({ type: 'call-start', call, name, nativeId });
export const feedCall = (call: number, text: string): ChatEvent => ({ type: 'call-delta', call, text });
export const endCall = (call: number, raw: string): ChatEvent => {
  return { type: 'call-end', call, state: 'ok', arguments: JSON.parse(raw || '{}') ?? {}, raw };
};

// ---- A session's log: one turn ----

export const turn = 't1';
export const sessionId = '0123456789abcdef'.repeat(4);

export const logOf = (...bodies: SessionEventBody[]): SessionEvent[] => bodies.map((body, index) => ({ ...body, id: index + 1, at: 0 }));
export const turnStart: SessionEventBody = { type: 'turn-start', turn, input: [{ type: 'text', text: 'hi' }], model: 'rehearsal/default' };
export const stepStart = (step: number): SessionEventBody => ({ type: 'step-start', turn, step });
export const textDelta = (step: number, text: string): SessionEventBody => ({ type: 'text-delta', turn, step, text });
export const thoughtDelta = (step: number, text: string): SessionEventBody => ({ type: 'reasoning-delta', turn, step, text });
