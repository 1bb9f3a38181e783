/** Only an administrator may write the code of a made tool that a secret is bound to, by REST or by `create_tool`, since that code can read the secret. */
import { isAllowed, requireAllowed, type Rights } from '../../core/authority.ts';
import type { SecretBinding } from '../../core/policy/secret.ts';
import type { Catalog } from '../../ports/catalog.ts';
import { readAllDocuments } from './read-all-pages.ts';

/** Throws `forbidden`. */
export async function requireMayHoldSecrets(catalog: Pick<Catalog, 'list'>, rights: Rights, canonical: string): Promise<void> {
  const act = { act: 'waive', what: `Writing ${canonical}, which a secret is bound to,` } as const;
  if (isAllowed(rights, act)) return;
  const secrets = await readAllDocuments(catalog, 'secret');
  // Bodies of secrets were parsed by the schema when they were written.
  if (secrets.some(({ body }) => (body as SecretBinding).tools?.includes(canonical))) requireAllowed(rights, act);
}
