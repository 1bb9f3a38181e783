/** `/`: the start page with links. It contains no data; a key from a link stays in the browser. */
import { htmlPage } from './html.ts';

export const startPage = htmlPage(
  'Moniker',
  `<h1>Moniker</h1>
<p>Your tools, under the names you choose, with any model.</p>
<nav><a href="/docs">API documentation</a><a href="/openapi.json">OpenAPI document</a><a href="/healthz">Health</a></nav>
<p id="key-status" class="muted">Open the link that the service printed, and its key is kept for this tab. Everything under /v1 wants it as <code>Authorization: Bearer &lt;key&gt;</code>.</p>
<h2>Try it</h2>
<pre>curl -N <span id="origin">http://127.0.0.1:8787</span>/v1/chat/completions \\
  -H "authorization: Bearer $KEY" -H "content-type: application/json" \\
  -d '{"model": "rehearsal/default", "toolset": "demo", "stream": true, "messages": [{"role": "user", "content": "/shell date"}]}'</pre>
<p>Any OpenAI client works with the base URL <code>/v1</code> of this service. Models are <code>&lt;provider&gt;/&lt;model&gt;</code>, agents are <code>agent/&lt;name&gt;</code>.</p>`,
  '/assets/start.js',
);
