/** Runs before each test file in the Workers runtime: the file starts with empty Durable Objects and an empty KV namespace. */
import { reset } from 'cloudflare:test';

await reset();
