/** `/openapi.json` and `/docs`: the document made from the routes themselves, and the same as a page. */
import { z } from 'zod';
import type { AppContext } from '../context.ts';
import { buildDocument } from '../openapi-document.ts';
import { docsPage } from '../pages/docs-page.ts';
import type { ApiDocument } from '../pages/docs-page.ts';
import { htmlResponse } from '../pages/html.ts';
import { mountPublic } from '../route.ts';
import type { App } from '../route.ts';

export function mountOpenApi(app: App): void {
  // Made on first use and kept: it costs milliseconds that no other request should wait for.
  let json: string | undefined;
  let page: string | undefined;
  const documentText = () => (json ??= JSON.stringify(buildDocument(app.operations)));

  mountPublic(
    app,
    {
      path: '/openapi.json',
      operationId: 'getOpenApi',
      tag: 'Service',
      summary: 'This document',
      answers: { 200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) } },
    },
    () => new Response(documentText(), { headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' } }),
  );

  mountPublic(
    app,
    {
      path: '/docs',
      operationId: 'getDocs',
      tag: 'Service',
      summary: 'This document as a page',
      answers: { 200: { description: 'The page.', contentType: 'text/html' } },
    },
    (c: AppContext) => {
      // The text was made above from our own routes, so its shape is known.
      page ??= docsPage(JSON.parse(documentText()) as ApiDocument);
      return htmlResponse(c, page);
    },
  );
}
