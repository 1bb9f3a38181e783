/**
 * The public routes of the service itself: the console, files of pages, `/healthz`, `/readyz`, and the generated document as `/openapi.json` and
 * `/docs`, with the guide below it. No key: they contain no private data.
 */
import { pagesCss } from '../../pages/assets.ts';
import { definePublicRoute } from '../../route.ts';
import { sha256Hex } from '../../../core/hash.ts';
import { etagHeader, matchesEtag, unchanged } from '../../conditions.ts';
import * as z from 'zod';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import { challengeHeader, challengePattern, proofHeader, proofOf } from '../../../core/servers/service-proof.ts';
import { ServerStatuses } from '../../../core/servers/server-state.ts';
import { version } from '../../../core/version.ts';
import { enterStrangersResponse } from '../../request-body.ts';
import { bodyHoldingPlace } from '../../sent-body.ts';
import { builtFile, builtPage, guidePage } from '../../pages/built-pages.ts';

const tag = 'Service';
const pageAnswer = { description: 'The page.', contentType: 'text/html', headers: etagHeader };

export const pageRoutes = [
  definePublicRoute(
    { path: '/', operationId: 'getStartPage', tag, summary: 'The console', answers: { 200: pageAnswer, 304: unchanged } },
    ({ c }) => builtPage(c, 'console'),
  ),

  definePublicRoute(
    {
      path: '/console',
      operationId: 'getConsole',
      tag,
      summary: 'The console',
      answers: { 200: pageAnswer, 304: unchanged },
    },
    ({ c }) => builtPage(c, 'console'),
  ),

  definePublicRoute(
    {
      path: '/console/{path+}',
      operationId: 'getConsolePage',
      tag,
      summary: 'A page of the console',
      description: 'Every path returns the same document, whose script shows the page.',
      params: z.object({ path: z.string().meta({ example: 'chat' }) }),
      answers: { 200: pageAnswer, 304: unchanged },
    },
    ({ c }) => builtPage(c, 'console'),
  ),

  definePublicRoute(
    {
      path: '/assets/pages.css',
      operationId: 'getPagesCss',
      tag,
      summary: 'The style of the pages',
      answers: { 200: { description: 'The file.', contentType: 'text/css' } },
    },
    ({ c }) => c.body(pagesCss, 200, { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' }),
  ),

  definePublicRoute(
    {
      path: '/assets/{file}',
      operationId: 'getPageFile',
      tag,
      summary: 'A script or a style of a page',
      params: z.object({ file: z.string().describe('Contains a hash of the content: a file never changes.') }),
      answers: { 200: { description: 'The file.', contentType: 'text/javascript', also: 'text/css', headers: etagHeader } },
    },
    ({ c }) => builtFile(c),
  ),
];

/** `/healthz`: the Worker runs. It uses neither storage nor models, so it works whatever else fails. */
const Health = z.object({ status: z.literal('ok'), version: z.string() }).meta({ id: 'Health', example: { status: 'ok', version } });

const readyExample = {
  checks: { storage: 'ok', kv: 'ok', keys: 'ok', disk: 'ok' },
  staleToolsets: 0,
  servers: { ok: 4, degraded: 1, failing: 0, unauthorized: 0, unknown: 0 },
} as const;
const Verdict = z.enum(['ok', 'fail']);
const Readiness = z
  .object({
    status: z.literal('ok'),
    checks: z.object({ storage: Verdict, kv: Verdict, keys: Verdict, disk: Verdict }),
    staleToolsets: z.int().nullable().meta({
      description:
        'Toolsets of the first workspace that are compiled with the tools of another build. After a deployment they are compiled again in the background; `GET /v1/toolsets/{toolset}/tools` warns of those that cannot be. `null`: they could not be counted; the log has the cause.',
    }),
    clock: z.string().optional().meta({
      description:
        'Why the clock of the machine is not trusted: it moved further than time passed. Until it returns, or has kept its new time for long, nothing is deleted or expired by its age. Absent: it is trusted.',
    }),
    servers: ServerStatuses.nullable().meta({
      description:
        'How many servers of the first workspace have each health, counted at most every 10 s. A server that is not `ok` does not make the service unready. `null`: they could not be counted.',
    }),
  })
  .meta({ id: 'Readiness', example: { status: 'ok', ...readyExample } });

export const healthRoutes = [
  definePublicRoute(
    {
      path: '/healthz',
      operationId: 'getHealth',
      tag: 'Service',
      summary: 'Check that the service is running',
      headers: {
        [challengeHeader]:
          '64 random hexadecimal digits. Only a Moniker on your own machine answers it: the command line checks who receives a key.',
      },
      answers: {
        200: {
          description: 'The service is running.',
          schema: Health,
          headers: { [proofHeader]: 'The HMAC-SHA-256 of the challenge under the token of the launcher.' },
        },
      },
      problems: ['invalid_request'],
    },
    async ({ c, services, answer }) => {
      const challenge = c.req.header(challengeHeader);
      if (challenge !== undefined && !challengePattern.test(challenge))
        throw invalidRequest([{ path: challengeHeader, message: 'must be 64 hexadecimal digits in lower case' }]);
      const { launcher } = services.settings;
      const proof = challenge === undefined || launcher === null ? {} : { [proofHeader]: await proofOf(launcher.token, challenge) };
      return answer(200, { status: 'ok', version }, proof);
    },
  ),

  definePublicRoute(
    {
      path: '/readyz',
      operationId: 'getReadiness',
      tag: 'Service',
      summary: 'Check that the service can do its work',
      description:
        'Checks the storage (the Catalog), KV, whether the root key and the master key are set, and the disk of the data folder (`ok` on Cloudflare). A service that is being stopped is not ready. Each check has a timeout of 2 s, and a result is reused for 1 s. The log has the causes of failures.',
      answers: { 200: { description: 'All checks succeeded. Otherwise the problem has `checks`, too.', schema: Readiness } },
      problems: ['unavailable'],
    },
    async ({ services, answer }) => {
      services.host.requireRunning();
      const { checks, ...counts } = await services.readiness();
      const failed = Object.entries(checks).flatMap(([part, verdict]) => (verdict === 'ok' ? [] : [part]));
      const why = checks.disk === 'ok' ? null : services.host.storageProblem();
      if (failed.length > 0)
        throw new Problem(
          'unavailable',
          `The service is not ready: ${failed.join(', ')} failed. ${why?.detail ?? 'The log has the cause.'}`,
          {
            checks,
          },
        );
      return answer(200, { status: 'ok', checks, ...counts });
    },
  ),
];

/** `/openapi.json` and `/docs`: the document generated from the routes, as JSON and as a page. */
export function openApiRoutes(build: () => Promise<object>) {
  // Generated on first use and cached: it takes milliseconds that other requests should not pay.
  let text: { json: Uint8Array; tag: string } | undefined;
  const document = async () => {
    const json = JSON.stringify(await build());
    return { json: new TextEncoder().encode(json), tag: `"${await sha256Hex(json)}"` };
  };

  return [
    definePublicRoute(
      {
        path: '/openapi.json',
        operationId: 'getOpenApi',
        tag: 'Service',
        summary: 'This document',
        answers: {
          200: {
            description: 'OpenAPI 3.1.',
            schema: z.looseObject({ openapi: z.string() }),
            contentType: 'application/json',
            headers: etagHeader,
          },
          304: unchanged,
        },
      },
      async ({ c, answer }) => {
        text ??= await document();
        const { json, tag } = text;
        if (matchesEtag(c, tag)) return answer(304, null, { etag: tag });
        const body = bodyHoldingPlace(json, await enterStrangersResponse(c));
        return new Response(body, { headers: { 'content-type': 'application/json', 'cache-control': 'no-cache', etag: tag } });
      },
    ),

    definePublicRoute(
      {
        path: '/docs',
        operationId: 'getDocs',
        tag: 'Service',
        summary: 'The API reference as a page',
        answers: { 200: pageAnswer, 304: unchanged },
      },
      ({ c }) => builtPage(c, 'docs'),
    ),

    definePublicRoute(
      {
        path: '/docs/{page}',
        operationId: 'getGuidePage',
        tag: 'Service',
        summary: 'A page of the guide',
        description: '`/docs/readme` lists the pages. The `type` of a problem is a place in `/docs/errors`.',
        params: z.object({ page: z.string().meta({ example: 'errors' }) }),
        answers: { 200: pageAnswer, 304: unchanged },
        problems: ['not_found'],
      },
      ({ c }) => guidePage(c),
    ),
  ];
}
