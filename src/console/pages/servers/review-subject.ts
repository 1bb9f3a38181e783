/** What administrators decide about: a tool, a prompt or a resource of a server, with the requests for it. */
import { moniker } from '../../api/moniker.ts';
import type { components } from '../../../../client/src/index.ts';
import type { OpenServer } from './server-state.ts';

export type DecisionAction = 'accept' | 'reject' | 'undo';
type Body = { refId?: string | undefined; acknowledge?: string[]; annotations?: true };
export type ReviewSubject = { name: string; decide(action: DecisionAction, body: Body): Promise<unknown> };

export function toolSubject({ path }: OpenServer, tool: string): ReviewSubject {
  const params = { path: { ...path, tool } };
  return { name: tool, decide: (action, body) => moniker.value.post(`/v1/servers/{server}/tools/{tool}/${action}`, { params, body }) };
}

type Offer = components['schemas']['ReviewedOffer'];

export function offerSubject({ path }: OpenServer, { kind, name }: Pick<Offer, 'kind' | 'name'>): ReviewSubject {
  const decide: ReviewSubject['decide'] = (action, { annotations: _annotations, ...body }) =>
    moniker.value.post(`/v1/servers/{server}/offers/${action}`, { params: { path }, body: { kind, name, ...body } });
  return { name, decide };
}
