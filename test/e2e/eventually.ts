/** Waits for effects of the service that happen in the background. */
import { waitUntil } from '../wait-for.ts';
import type { Answer } from './service.ts';

/** Polls `look` until it returns a value; throws `what` after the timeout. */
export async function eventually<Found>(what: string, look: () => Promise<Found | undefined> | Found | undefined): Promise<Found> {
  try {
    const found = await waitUntil(async () => {
      const value = await look();
      return value === undefined ? null : { value };
    });
    return found.value;
  } catch (error) {
    throw new Error(`timed out: ${what}`, { cause: error });
  }
}

/** The newest turn of a session, when it has ended. */
export function endedTurn(service: { call(method: string, path: string): Promise<Answer> }, session: string): Promise<Answer['json']> {
  return eventually('the turn has ended', async () => {
    const { turn } = (await service.call('GET', `/v1/sessions/${session}`)).json;
    return ['running', 'waiting'].includes(turn.status) ? undefined : turn;
  });
}
