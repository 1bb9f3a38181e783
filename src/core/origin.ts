/**
 * The credential that something was made with, such as the link of an approval or the access of an MCP client. It is stored beside it: what
 * descends from a credential ends with it (`catalog/keys/origin-rights.ts`; the table of all kinds is in docs/credentials.md).
 */
import type { Principal } from './principal.ts';

export type Origin = {
  /** As in `Principal`. */
  keyId: string;
  /** When it was made. */
  at: number;
  /** As in `Principal`. */
  rootProof?: string;
};

export function originOf({ keyId, rootProof }: Pick<Principal, 'keyId' | 'rootProof'>, at: number): Origin {
  return { keyId, at, ...(rootProof !== undefined && { rootProof }) };
}
