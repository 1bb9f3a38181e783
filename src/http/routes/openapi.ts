/** `/openapi.json` and `/docs`: the document made from the routes themselves, and the same as a page. */
import type { AppContext } from '../context.ts';
import { AliasMode, Announce } from '../../core/toolset.ts';
import { Usage } from '../../core/chat-event.ts';
import { Via } from '../../core/message.ts';
import { ToolKind, ToolResultCode } from '../../core/tool.ts';
import { docsPage } from '../pages/docs-page.ts';
import type { ApiDocument } from '../pages/docs-page.ts';
import { htmlAnswer } from '../pages/html.ts';
import { mountPublic } from '../route.ts';
import type { App } from '../route.ts';
import { version } from '../version.ts';

const description = `Connect tools once, pick the ones a job needs into a toolset under the names you choose, and use them with any model.

Bodies are JSON in UTF-8 (\`content-type: application/json\`); a byte order mark is tolerated, and of duplicate keys the last counts.
Unknown fields and query parameters are refused. Faults are \`application/problem+json\` with a \`code\` from one closed list;
\`/v1/chat/completions\` answers faults in the OpenAI shape. Every answer carries \`x-request-id\`.`;

const tags = [
  { name: 'Toolsets', description: 'Tools under the names you choose.' },
  { name: 'Tools', description: 'Every tool the workspace knows.' },
  { name: 'Sessions', description: 'Conversations that remember: turns, events, messages and files.' },
  { name: 'OpenAI', description: 'What stock OpenAI clients call.' },
  { name: 'Agents', description: 'A model, instructions and a toolset under one name.' },
  { name: 'Providers', description: 'Where models are reached.' },
  { name: 'Secrets', description: 'Values that may be used and never read.' },
  { name: 'Keys', description: 'Who may do what.' },
  { name: 'Audit', description: 'Every call and refusal.' },
  { name: 'Service', description: 'Health, documentation, pages.' },
];

export function mountOpenApi(app: App): void {
  // First met as nullable or with a default, a shared schema would be described so everywhere.
  for (const [name, schema] of Object.entries({ AliasMode, Announce, Usage, Via, ToolKind, ToolResultCode })) {
    app.openAPIRegistry.register(name, schema);
  }
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'The root key, or one made with `POST /v1/keys`.',
  });

  // Made on first use and kept: it costs milliseconds that no other request should wait for.
  let json: string | undefined;
  let page: string | undefined;
  const documentText = () => (json ??= JSON.stringify(buildDocument(app)));

  mountPublic(
    app,
    {
      path: '/openapi.json',
      operationId: 'getOpenApi',
      tag: 'Service',
      summary: 'This document',
      answers: { 200: { description: 'OpenAPI 3.1.' } },
    },
    () => new Response(documentText(), { headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' } }),
  );

  mountPublic(
    app,
    { path: '/docs', operationId: 'getDocs', tag: 'Service', summary: 'This document as a page', answers: { 200: { description: 'HTML.' } } },
    (c: AppContext) => {
      // The text was made above from our own routes, so its shape is known.
      page ??= docsPage(JSON.parse(documentText()) as ApiDocument);
      return htmlAnswer(c, page);
    },
  );
}

function buildDocument(app: App): object {
  return app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'Moniker', version, description }, servers: [{ url: '/' }], tags });
}
