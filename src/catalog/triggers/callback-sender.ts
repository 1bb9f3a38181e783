/** Sends what is due to be sent, few at a time and fewer to one target, until it is taken or a day is over. */
import type { CatalogContext } from '../context.ts';
import type { Duty } from '../duty.ts';
import type { SendCallback } from '../../engine/triggers/send-callback.ts';

export type CallbackSenderDeps = {
  send: SendCallback;
  keep(work: Promise<unknown>): void;
  wake(): Promise<void>;
};

export type CallbackSender = Duty & { kick(): void };

export function createCallbackSender(_context: CatalogContext, _deps: CallbackSenderDeps): CallbackSender {
  return { nextDue: () => null, tend: async () => undefined, kick: () => undefined };
}
