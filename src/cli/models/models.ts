/** `moniker models`: lists the models that the key may use, and tests one with a short request. */
import type { Command } from 'commander';
import type { components } from '../../../client/src/index.ts';
import { print, printError } from '../../local/printing.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from '../connection.ts';
import { inLine, type JsonOption, printJson, renderTable } from '../output.ts';

type Model = components['schemas']['Model'];
type Options = ConnectionOptions & JsonOption;

/** Reasoning models think before the first word. */
const testTimeoutMs = 120_000;

export function addModelsCommand(program: Command): void {
  const models = program.command('models').description('list the models that the key may use, and test one');
  const add = (name: string, description: string): Command =>
    addConnectionOptions(
      models
        .command(name, { isDefault: name === 'list' })
        .description(description)
        .option('--json', 'print the result as JSON'),
    );
  add('list', 'list the models with their limits and prices per million tokens')
    .argument('[text]', 'only models whose names contain this text')
    .addHelpText('after', '\nExample:\n  moniker models list claude')
    .action(list);
  add('test', 'send one short request to a model, and print how long it took and which model answered')
    .argument('<model>', 'a model, an alias or an agent, as clients name it')
    .addHelpText('after', '\nExample:\n  moniker models test openai/gpt-5-mini')
    .action(test);
}

async function list(text: string | undefined, options: Options): Promise<void> {
  const { client } = connectService(options);
  const found = await client.get('/v1/models', { params: { query: text === undefined ? {} : { search: text } } });
  if (options.json) return printJson(found);
  const rows = found.data.map(({ id, context_length: context, max_input_tokens: input, max_output_tokens: output, pricing }) => [
    ...[id, count(context ?? input), count(output)],
    ...[perMillion(pricing?.prompt), perMillion(pricing?.completion)],
  ]);
  if (rows.length === 0) print('No models. Name a provider with `moniker start`, or PUT /v1/providers/<name>.');
  else print(renderTable([['MODEL', 'CONTEXT', 'OUTPUT', 'INPUT PRICE', 'OUTPUT PRICE'], ...rows]));
  for (const { provider, reason } of found.unavailable) printError(inLine(`The models of ${provider} are missing: it ${reason}.`));
}

async function test(model: string, options: Options): Promise<void> {
  const { client } = connectService(options, testTimeoutMs);
  const startedAt = performance.now();
  const body = { model, messages: [{ role: 'user' as const, content: 'Reply with the word ok.' }], max_completion_tokens: 512 };
  const answer = await client.post('/v1/chat/completions', { body });
  const latencyMs = Math.round(performance.now() - startedAt);
  if (options.json) return printJson({ model, latencyMs, answeredBy: answer.model, usage: answer.usage ?? null });
  print(inLine(`${model} answered in ${latencyMs} ms. Model that answered: ${answer.model}.`));
}

function count(tokens: Model['context_length']): string {
  return tokens?.toLocaleString('en') ?? '-';
}

function perMillion(price: string | undefined): string {
  return price === undefined ? '-' : String(Number((Number(price) * 1e6).toPrecision(6)));
}
