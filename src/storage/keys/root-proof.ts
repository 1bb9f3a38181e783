/**
 * Proof of the current root key: an HMAC of it under the master key. It is stored with what the root key made, which ends when the root key
 * changes, and says nothing about the key. After a rotation of the master key, a proof of before is accepted as long as that key is.
 */
import { equalInConstantTime } from '../../core/constant-time.ts';
import { toBase64Url } from '../../core/text/bytes.ts';
import type { Settings } from '../../core/people/settings.ts';
import { macOf, macSigner, type MasterKey } from './master-key.ts';

export interface RootProof {
  current(): Promise<string>;
  isCurrent(proof: string | undefined): Promise<boolean>;
}

/** `sealing`: the master key, or a key derived from the root key. */
export function createRootProof(sealing: MasterKey, { rootKey }: Pick<Settings, 'rootKey'>): RootProof {
  const claim = { workspace: '', purpose: 'root-proof', data: String(rootKey) } as const;
  return {
    current: async () => toBase64Url(await macOf(sealing, claim.workspace, claim.purpose, claim.data)),
    isCurrent: async (proof) =>
      rootKey !== null &&
      proof !== undefined &&
      (await macSigner(sealing, claim, (mac) => equalInConstantTime(proof, toBase64Url(mac)))) !== null,
  };
}
