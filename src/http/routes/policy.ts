/** `/v1/policy`: what the workspace has allowed once and for all, one document. What has to be asked for is said by `core/policy.ts`. */
import { z } from 'zod';
import { Policy } from '../../core/policy/rule.ts';
import { orNull } from '../../core/problem.ts';
import { policyDocument } from '../../ports/catalog.ts';
import { requireUnbound } from '../access.ts';
import { conditionHeaders, documentAnswer, etag, etagHeader, writeConditions } from '../documents.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';

const path = '/v1/policy';
const tag = 'Policy';
const scopes = ['admin'] as const;
const what = 'The policy and its rules';
const WrittenPolicy = Policy.extend({ version: z.int() }).meta({ id: 'WrittenPolicy' });

export function mountPolicy(app: App): void {
  mount(
    app,
    {
      method: 'get',
      path,
      operationId: 'getPolicy',
      tag,
      scopes,
      summary: 'Read the rules of the workspace',
      description: 'The answer may be sent back with PUT as it is. Approvals that were remembered have added their rules at the end.',
      answers: { 200: { description: 'The rules; none and no `etag` where none were written.', schema: Policy, headers: etagHeader } },
    },
    async ({ c, services, principal }) => {
      requireUnbound(principal, what);
      const document = await orNull(services.catalog(principal.workspace).get('policy', policyDocument));
      return document === null
        ? c.json({ rules: [] }, 200, { 'cache-control': 'private, no-cache' })
        : documentAnswer(c, document, document.body);
    },
  );

  mount(
    app,
    {
      method: 'put',
      path,
      operationId: 'putPolicy',
      tag,
      scopes,
      summary: 'Write the rules of the workspace',
      description:
        'Each rule allows what it describes, so that nobody is asked any more: of a rule all members that are given must fit. ' +
        'Calls may be judged by the rules before for a few seconds.',
      headers: conditionHeaders,
      body: { schema: Policy },
      answers: {
        200: { description: 'Replaced, or already so.', schema: WrittenPolicy, headers: etagHeader },
        201: { description: 'Made.', schema: WrittenPolicy, headers: { ...etagHeader, location: 'Of the policy.' } },
      },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, body }) => {
      requireUnbound(principal, what);
      const write = services.catalog(principal.workspace).put('policy', policyDocument, body, writeConditions(c));
      const { document, created } = await write;
      const answer = { ...document.body, version: document.version };
      return c.json(answer, created ? 201 : 200, { etag: etag(document.version), ...(created && { location: path }) });
    },
  );

  mount(
    app,
    {
      method: 'delete',
      path,
      operationId: 'deletePolicy',
      tag,
      scopes,
      summary: 'Forget all rules of the workspace',
      headers: conditionHeaders,
      answers: { 204: { description: 'Gone: everything is asked for again.' } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal }) => {
      requireUnbound(principal, what);
      await services.catalog(principal.workspace).remove('policy', policyDocument, writeConditions(c));
      return c.body(null, 204);
    },
  );
}
