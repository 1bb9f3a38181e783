/**
 * What a key with `models` may write: agents and model aliases that name models of its list, since others run them. No providers, and no
 * aliases with the names of other models, which decide what the name of a model stands for.
 */
import { listModelAliases } from '../documents/documents.ts';
import { splitModelRef } from '../../../core/turn/agent.ts';
import { modelsOf, refsIn } from '../../../core/model/route.ts';
import { resolveModelRef } from '../../../core/model/model-alias.ts';
import { allowsModel, coversPattern, type ModelPatterns } from '../../../core/model/model-name.ts';
import { Problem, quoted } from '../../../core/problem.ts';
import type { DocumentKind } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { findProvider } from '../documents/agents.ts';

/** `models`: of the key. Throws `forbidden`. */
export function requireOwnModels(
  context: CatalogContext,
  models: ModelPatterns,
  { kind, name, body }: { kind: DocumentKind; name: string; body: Readonly<Record<string, unknown>> },
): void {
  if (kind !== 'agent' && kind !== 'model-alias' && kind !== 'provider') return;
  const own = `This key is limited by its \`models\` (${models.join(', ')}).`;
  if (kind === 'provider')
    throw new Problem('forbidden', `${own} It writes no providers, which decide what the name of a model stands for.`);
  if (kind === 'model-alias' && name.includes('/') && !coversPattern(models, name))
    throw new Problem('forbidden', `${own} It gives no other model a new meaning: ${quoted(name)}.`);
  // Not parsed yet: what is not a name of a model is refused by its schema.
  const ref = refsIn(body).find((name) => !isOwn(context, models, name));
  if (ref !== undefined) throw new Problem('forbidden', `${own} It writes no agent or alias with another model, such as ${quoted(ref)}.`);
}

/** Agents that an alias names are checked when they are written, and used. */
function isOwn(context: CatalogContext, models: ModelPatterns, ref: string): boolean {
  if (ref.startsWith('agent/')) return true;
  const resolved = resolveModelRef(listModelAliases(context), ref);
  if ('fault' in resolved) return true;
  return modelsOf(resolved.model).every((one) => {
    const { provider, model } = splitModelRef(one);
    return allowsModel(models, { provider, model, kind: findProvider(context, provider)?.kind ?? 'openai' });
  });
}
