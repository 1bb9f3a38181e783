/**
 * A batch of Anthropic's API for its provider (API reference, "Create a Message Batch"): each request names a model, which is resolved and checked
 * as that of a chat. All of them must be of one provider.
 */
import { isRecord, type Json } from '../../core/json/wire-value.ts';
import type { Dropped } from '../../core/model/dropped.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { otherModels } from '../../core/model/request-extras.ts';
import { modelsOf } from '../../core/model/route.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, type Issue, quoted } from '../../core/problem.ts';
import { splitModelRef } from '../../core/turn/agent.ts';
import { resolveModel } from '../../engine/chat/incoming-chat.ts';
import { readAllowedProvider } from '../../engine/plan/plan-models.ts';
import type { Directory } from '../../ports/directory.ts';
import { profileFor } from '../profiles.ts';
import { adaptPassed } from '../supported-settings.ts';

/** What Anthropic accepts. */
const maxRequests = 100_000;
const maxIssues = 20;

type FoundModel = { access: ProviderAccess; model: string; isListed: boolean };

/** Returns the body with the provider's names of its models. Throws `forbidden` if one of them is not allowed, and `invalid_request` with each place. */
export async function toMessageBatch(
  { directory }: { directory: Directory },
  principal: Principal,
  body: Readonly<Record<string, unknown>>,
  dropped: Dropped,
): Promise<{ provider: string; body: object; model: string | undefined }> {
  const { requests } = body;
  if (!Array.isArray(requests) || requests.length === 0 || requests.length > maxRequests)
    throw invalidRequest([{ path: 'requests', message: `must be a list of 1 to ${maxRequests} requests` }]);
  const found = new Map<string, FoundModel | { fault: string }>();
  const issues: Issue[] = [];
  const sent: Json[] = [];
  let provider: string | null = null;
  for (const [index, request] of requests.entries()) {
    if (issues.length >= maxIssues) break;
    const path = `requests[${index}].params`;
    const params: unknown = isRecord(request) ? request.params : undefined;
    if (!isRecord(request) || !isRecord(params) || typeof params.model !== 'string') {
      issues.push({ path: `${path}.model`, message: 'must be <provider>/<model>, or an alias of one' });
      continue;
    }
    const model = found.get(params.model) ?? (await findBatchModel(directory, principal, params.model));
    found.set(params.model, model);
    if ('fault' in model) {
      issues.push({ path: `${path}.model`, message: model.fault });
      continue;
    }
    provider ??= model.access.name;
    if (model.access.name !== provider) {
      const message = `is of the provider ${quoted(model.access.name)}, and those before are of ${quoted(provider)}: a batch goes to one provider`;
      issues.push({ path: `${path}.model`, message });
    }
    if (model.isListed) for (const issue of otherModels(params)) issues.push({ ...issue, path: `${path}.${issue.path}` });
    const own = { ...params, model: model.model };
    sent.push({ ...request, params: adaptPassed(own, 'anthropic-messages', profileFor(model.access, model.model), dropped) });
  }
  if (issues.length > 0 || provider === null) throw invalidRequest(issues);
  const models = new Set([...found.values()].flatMap((one) => ('fault' in one ? [] : [one.model])));
  const [only] = models;
  return { provider, body: { ...body, requests: sent }, model: models.size === 1 ? only : undefined };
}

async function findBatchModel(directory: Directory, principal: Principal, name: string): Promise<FoundModel | { fault: string }> {
  const refs = modelsOf(await resolveModel({ directory }, principal, name));
  const [ref = ''] = refs;
  if (refs.length !== 1) return { fault: `${quoted(name)} has several models, which share requests: name one of ${refs.join(', ')}` };
  if (!/^[^/]+\/./.test(ref) || ref.startsWith('agent/'))
    return { fault: `${quoted(name)} is no model of a provider: name <provider>/<model>, or an alias of one` };
  const { access, isListed } = await readAllowedProvider(directory, principal, ref);
  if (access.kind === 'anthropic') return { access, model: splitModelRef(ref).model, isListed };
  return {
    fault: `is of the provider ${quoted(access.name)}, of kind ${access.kind}, which has no message batches: those of kind anthropic have them. Use /v1/batches`,
  };
}
