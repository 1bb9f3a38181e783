/** `/v1/usage`: what calls used and cost, as daily sums; `/v1/requests`: the log of requests to models and of turns. */
import * as z from 'zod';
import { visibleKey } from '../../../core/people/authority.ts';
import { invalidRequest, Problem, quoted } from '../../../core/problem.ts';
import {
  dayOf,
  LoggedRequest,
  RequestEntry,
  isOfTools,
  usageDimensions,
  UsageRow,
  UsageTotals,
  type UsageDimension,
} from '../../../core/records/usage.ts';
import type { RequestFilter } from '../../../ports/usage.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const dayMs = 86_400_000;
const defaultDays = 30;
const maxDays = 400;
const maxDimensions = 4;

const filterText = z.string().min(1).max(240).optional();
const ownKey = filterText.meta({
  description: 'Id of a key, or `me`. A key without the scope `admin` sees only its own calls.',
});

const UsageRequest = z.strictObject({
  ...pageFields,
  from: z.iso
    .date()
    .optional()
    .meta({ description: `First day (UTC). Default: ${defaultDays} days before \`to\`.` }),
  to: z.iso.date().optional().meta({ description: 'Last day (UTC), inclusive. Default: today.' }),
  by: z
    .string()
    .max(200)
    .default('day')
    .meta({
      description: `The dimensions of a group, at most ${maxDimensions}: ${usageDimensions.join(', ')}. \`tool\` counts calls of tools, which have no model; \`requested\` and \`via\` by the name that was called, also names that are no tool.`,
      example: 'day,model',
    }),
  key: ownKey,
  agent: filterText,
  provider: filterText,
  model: filterText.meta({ description: '`<provider>/<model>`.' }),
  toolset: filterText,
  tool: filterText.meta({ description: 'Canonical name; with `by` containing `tool`.' }),
});

const RequestsRequest = z.strictObject({
  ...pageFields,
  from: z.iso.datetime().optional(),
  to: z.iso.datetime().optional().meta({ description: 'Exclusive.' }),
  key: ownKey,
  agent: filterText,
  session: filterText,
  model: filterText.meta({ description: 'As requested: `<provider>/<model>`.' }),
  provider: filterText,
  status: RequestEntry.shape.status.optional(),
  kind: RequestEntry.shape.kind.optional(),
  requestId: filterText.meta({ description: 'An `x-request-id`.' }),
});

const common = { method: 'get', tag: 'Usage', scopes: ['chat', 'tools', 'toolsets', 'approve', 'admin'] } as const;
const visible = 'A key with the scope `admin` that is not bound to agents or toolsets sees all keys, others only themselves.';

export const usageRoutes = [
  defineRoute(
    {
      ...common,
      path: '/v1/usage',
      operationId: 'getUsage',
      summary: 'Sum the usage and cost of models and tools',
      description: `Counts every call of a model, in turns and without, with the tokens that its provider reported, and every call of a tool. Calls appear within seconds. ${visible}`,
      query: UsageRequest,
      answers: {
        200: {
          description: 'Groups, sorted by the dimensions of `by`.',
          schema: pageOf(UsageRow).extend({
            from: z.iso.date(),
            to: z.iso.date(),
            totals: UsageTotals.meta({ description: 'Of all groups, on all pages.' }),
          }),
        },
      },
    },
    async ({ answer, services, principal, query: { cursor, limit, from, to, by, ...where } }) => {
      const range = daysOf(from, to, services.clock.now());
      const dimensions = dimensionsOf(by);
      const issues = (['model', 'provider', 'tool'] as const).flatMap((name) => {
        const message =
          name === 'tool'
            ? 'requires `tool`, `requested` or `via` in `by`'
            : 'calls of tools have no model: omit it, or the dimensions of tools in `by`';
        return where[name] !== undefined && isOfTools(dimensions) !== (name === 'tool') ? [{ path: name, message }] : [];
      });
      if (issues.length > 0) throw invalidRequest(issues);
      const key = visibleKey(principal, where.key);
      const page = { limit, ...(cursor !== undefined && { cursor }) };
      const own = { ...where, ...(key !== undefined && { key }) };
      const usage = await services.usage.usage(principal.workspace, { ...page, ...range, by: dimensions, where: own });
      return answer(200, { ...usage, ...range });
    },
  ),

  defineRoute(
    {
      ...common,
      path: '/v1/requests',
      operationId: 'listRequests',
      summary: 'List requests to models and turns, newest first',
      description: `One row for each request that was sent to a provider without a turn, and for each turn, also without calls of tools. Rows appear within seconds; a page may have fewer rows than \`limit\` although more follow. ${visible}`,
      query: RequestsRequest,
      answers: { 200: { description: 'A page of rows.', schema: pageOf(RequestEntry) } },
    },
    async ({ answer, services, principal, query: { cursor, limit, from, to, ...where } }) => {
      const range = { ...(from !== undefined && { from: Date.parse(from) }), ...(to !== undefined && { to: Date.parse(to) }) };
      if (range.from !== undefined && range.to !== undefined && range.from >= range.to)
        throw invalidRequest([{ path: 'to', message: 'must be after `from`' }]);
      const key = visibleKey(principal, where.key);
      const filter = Object.fromEntries(Object.entries({ ...where, key }).filter(([, value]) => value !== undefined)) as RequestFilter;
      const page = { limit, ...(cursor !== undefined && { cursor }) };
      return answer(200, await services.usage.requests(principal.workspace, { ...page, ...range, where: filter }));
    },
  ),

  defineRoute(
    {
      ...common,
      path: '/v1/requests/{request}',
      operationId: 'getRequest',
      summary: 'Read a row of the request log',
      description: visible,
      params: z.object({
        request: z.string().min(1).max(200).meta({ description: 'Id of the row, or an `x-request-id`, whose newest row is returned.' }),
      }),
      answers: { 200: { description: 'The row.', schema: LoggedRequest } },
      problems: ['not_found'],
    },
    async ({ answer, services, principal, params: { request } }) => {
      const found = await services.usage.request(principal.workspace, request, visibleKey(principal));
      if (found === null) throw new Problem('not_found', `The request log has no row ${quoted(request)}. Rows appear within seconds.`);
      return answer(200, found);
    },
  ),
];

function daysOf(from: string | undefined, to: string | undefined, now: number): { from: string; to: string } {
  const last = to ?? dayOf(now);
  const first = from ?? dayOf(Date.parse(last) - (defaultDays - 1) * dayMs);
  if (first > last)
    throw invalidRequest([{ path: to === undefined ? 'from' : 'to', message: `the range ends (${last}) before it begins (${first})` }]);
  if (Date.parse(last) - Date.parse(first) >= maxDays * dayMs)
    throw invalidRequest([{ path: 'from', message: `the range may have at most ${maxDays} days` }]);
  return { from: first, to: last };
}

function dimensionsOf(by: string): UsageDimension[] {
  const names = by.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !usageDimensions.some((known) => known === name));
  const refuse = (message: string) => invalidRequest([{ path: 'by', message }]);
  if (unknown !== undefined) throw refuse(`has the unknown dimension ${quoted(unknown)}. Use ${usageDimensions.join(', ')}`);
  if (new Set(names).size < names.length) throw refuse('names a dimension twice');
  if (names.length > maxDimensions) throw refuse(`may have at most ${maxDimensions} dimensions`);
  if (isOfTools(names as UsageDimension[]) && (names.includes('model') || names.includes('provider')))
    throw refuse('calls of tools have no model: use `tool`, `requested` and `via` without `model` and `provider`');
  // Checked just now.
  return names as UsageDimension[];
}
