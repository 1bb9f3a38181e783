/** After a change of the master key: has the service seal everything again, and then removes the previous key from the data folder. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MasterKeyState } from '../ports/master-key.ts';
import { createApiClient } from './api-client.ts';
import { forgetPreviousMasterKey, type Keys } from './keys.ts';

const pollMs = 1_000;
const maxPolls = 3_600;

/** Reports what happens, and throws nothing: the service works with both keys. The next start continues. */
export async function resealAtStart(url: string, keys: Keys, dataDir: string, log: (line: string) => void): Promise<void> {
  if (keys.previousMasterKey === null) return;
  try {
    const client = createApiClient(url, keys.rootKey);
    let { reseal } = await client.post<MasterKeyState>('/v1/master-key/reseal', {});
    for (let polls = 0; reseal.status === 'running' && polls < maxPolls; polls += 1) {
      await sleep(pollMs, undefined, { ref: false });
      ({ reseal } = await client.get<MasterKeyState>('/v1/master-key'));
    }
    if (reseal.status !== 'done') {
      log('warning: not everything could be sealed with the new master key. See GET /v1/master-key; the previous key is kept.');
      return;
    }
    const removed = forgetPreviousMasterKey(dataDir) ? 'The previous key was removed.' : 'MONIKER_MASTER_KEY_PREVIOUS can be removed.';
    log(`The master key was changed: ${reseal.done} values are sealed with the new one. ${removed}`);
  } catch (error) {
    log(`warning: sealing with the new master key is not finished; the next start continues. ${String(error)}`);
  }
}
