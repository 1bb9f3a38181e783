/** `/v1/servers/{server}/offers`: the prompts, resources and templates of an MCP server, and decisions about held ones. */
import * as z from 'zod';
import { AcceptDecision, RejectDecision, UndoDecision } from '../../../core/listing/decide-definition.ts';
import { OfferKind, ReviewedOffer } from '../../../core/listing/stored-offer.ts';
import { limits } from '../../../core/limits/limits.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import { serverParams } from './servers.ts';

/** In the body, since a URI is no segment of a path. */
const named = {
  kind: OfferKind,
  name: z.string().min(1).max(limits.maxUrlLength).meta({ description: 'The name of a prompt, the URI of a resource, or a template.' }),
};
const example = { kind: 'prompt', name: 'review' } as const;
const AcceptOffer = z.strictObject({ ...named, ...AcceptDecision }).meta({ id: 'AcceptOffer', example });
const RejectOffer = z.strictObject({ ...named, ...RejectDecision }).meta({ id: 'RejectOffer', example });
const UndoOffer = z.strictObject({ ...named, ...UndoDecision }).meta({ id: 'UndoOffer', example });

const common = { tag: 'Servers', scopes: ['admin'], workspace: 'Servers', params: serverParams } as const;
const deciding = {
  ...common,
  method: 'post',
  answers: { 200: { description: 'Its current state.', schema: ReviewedOffer } },
  problems: ['conflict'],
} as const;

export const serverOfferRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/servers/{server}/offers',
      operationId: 'listServerOffers',
      summary: 'List the prompts and resources of a server',
      description: 'Those that are `ready` can be offered by toolsets (`resources` and `prompts` of a toolset).',
      query: PageQuery,
      answers: { 200: { description: 'A page, by kind and name.', schema: pageOf(ReviewedOffer) } },
    },
    async ({ answer, services, principal, params, query }) => {
      return answer(200, await services.catalog(principal).reviewedOffers(params.server, query));
    },
  ),

  defineRoute(
    {
      ...deciding,
      path: '/v1/servers/{server}/offers/accept',
      operationId: 'acceptServerOffer',
      summary: 'Accept a held prompt or resource',
      description: 'One with findings takes two requests, as a tool does.',
      body: AcceptOffer,
      problems: ['conflict', 'acknowledgement_required'],
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).decideOffer(params.server, { ...body, action: 'accept' }));
    },
  ),

  defineRoute(
    {
      ...deciding,
      path: '/v1/servers/{server}/offers/reject',
      operationId: 'rejectServerOffer',
      summary: 'Reject a prompt or resource',
      description: 'It is not offered, also when the server is deleted and added again, until it is listed with another definition.',
      body: RejectOffer,
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).decideOffer(params.server, { ...body, action: 'reject' }));
    },
  ),

  defineRoute(
    {
      ...deciding,
      path: '/v1/servers/{server}/offers/undo',
      operationId: 'undoServerOfferDecision',
      summary: 'Undo a decision about a prompt or resource',
      body: UndoOffer,
    },
    async ({ answer, services, principal, params, body }) => {
      return answer(200, await services.catalog(principal).decideOffer(params.server, { ...body, action: 'undo' }));
    },
  ),
];
