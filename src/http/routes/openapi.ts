/** `/openapi.json` and `/docs`: the document generated from the routes, as JSON and as a page. */
import { z } from 'zod';
import type { AppContext } from '../context.ts';
import { buildDocument } from '../openapi-document.ts';
import { docsPage } from '../pages/docs-page.ts';
import type { ApiDocument } from '../pages/docs-page.ts';
import { htmlResponse } from '../pages/html.ts';
import { mountPublic } from '../route.ts';
import type { App } from '../route.ts';

export function mountOpenApi(app: App): void {
  // Generated on first use and cached: it takes milliseconds that other requests should not pay.
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
      // The text was generated above from our own routes, so its shape is known.
      page ??= docsPage(JSON.parse(documentText()) as ApiDocument);
      return htmlResponse(c, page);
    },
  );
}
