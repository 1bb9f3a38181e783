/** Starts `@musistudio/llms`, the server of claude-code-router: `node llms.mjs <port> <upstream url>`. Its ES module build does not load. */
import { createRequire } from 'node:module';

const llms = createRequire(import.meta.url)('@musistudio/llms');
const Server = llms.default ?? llms;
const [port, upstream] = process.argv.slice(2);
const models = ['mock-c20', 'mock-c200-p0', 'mock-c200-py'];
const provider = { name: 'up', api_base_url: `${upstream}/v1/chat/completions`, api_key: 'k', models, transformer: { use: ['openai'] } };
new Server({ logger: false, initialConfig: { PORT: port, HOST: '127.0.0.1', providers: [provider] } }).start();
