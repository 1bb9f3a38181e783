import { openProvider } from '../../../src/storage/providers.ts';
import { Provider, type ProviderAccess } from '../../../src/core/model/provider.ts';
import type { MasterKey } from '../../../src/storage/keys/master-key.ts';

/** Returns the access of a document, whose key is the secret KEY. Throws what opening it throws. */
export async function accessOf(document: object, key?: string | object): Promise<ProviderAccess> {
  const provider = Provider.parse({ ...document, ...(key !== undefined && { apiKeySecret: 'KEY' }) });
  const value = typeof key === 'string' ? key : JSON.stringify(key);
  const secret = { value, hosts: ['*.azure.com', '*.amazonaws.com', '*.googleapis.com', 'aiplatform.googleapis.com', '*.example.com'] };
  // Documents were parsed, and nothing is sealed.
  const stored = { provider: provider as never, sealedApiKey: null };
  return await openProvider(null as unknown as MasterKey, { workspace: 'w', name: 'cloud' }, stored, () => Promise.resolve(secret));
}
