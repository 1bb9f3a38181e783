/** The start page and its files. No key: they contain no private data. */
import { pagesCss, startJs } from '../pages/assets.ts';
import { htmlResponse } from '../pages/html.ts';
import { startPage } from '../pages/start-page.ts';
import { mountPublic } from '../route.ts';
import type { App } from '../route.ts';

export function mountPages(app: App): void {
  const tag = 'Service';
  const answers = (contentType: string) => ({ 200: { description: 'The file.', contentType } });
  mountPublic(app, { path: '/', operationId: 'getStartPage', tag, summary: 'The start page', answers: answers('text/html') }, (c) =>
    htmlResponse(c, startPage),
  );
  mountPublic(
    app,
    { path: '/assets/pages.css', operationId: 'getPagesCss', tag, summary: 'The style of the pages', answers: answers('text/css') },
    (c) => c.body(pagesCss, 200, { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' }),
  );
  mountPublic(
    app,
    {
      path: '/assets/start.js',
      operationId: 'getStartJs',
      tag,
      summary: 'The script of the start page',
      answers: answers('text/javascript'),
    },
    (c) => c.body(startJs, 200, { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' }),
  );
}
