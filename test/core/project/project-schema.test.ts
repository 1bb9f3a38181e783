import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { Project, projectJsonSchema } from '../../../src/core/project/project.ts';
import { readYaml } from '../../../src/formats/read-yaml.ts';

const bounds = { maxDepth: 64, maxSeparators: 10_000, maxAliased: 0 };

describe('the JSON Schema of project files', () => {
  it('is the one in the repository', async () => {
    // Written with: npm run client
    await expect(`${JSON.stringify(projectJsonSchema(), null, 1)}\n`).toMatchFileSnapshot('../../../docs/moniker.schema.json');
  });

  const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(projectJsonSchema());
  const faultsOf = (project: unknown) => (isValid(project) ? [] : (isValid.errors ?? []).map(({ instancePath }) => instancePath));

  it('accepts the example, also before its variables are expanded', () => {
    expect(faultsOf(Project.meta()?.example)).toEqual([]);
    const example = readYaml(readFileSync('examples/moniker.yaml', 'utf8'), bounds);
    expect(faultsOf(example)).toEqual([]);
  });

  it.each([
    [{ tolsets: {} }, ''],
    [{ servers: { Big: { kind: 'static' } } }, '/servers'],
    [{ agents: { a: { modell: 'x' } } }, '/agents/a'],
    [{ agents: { a: { model: 'two words' } } }, '/agents/a/model'],
    [{ toolsets: { work: { tools: [] } } }, '/toolsets/work/tools'],
  ])('rejects %j', (project, place) => {
    expect(faultsOf(project)).toContain(place);
  });
});
