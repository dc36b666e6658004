/** docs/operations.md: its units, files and commands are valid by what reads them, and what it names is there. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { execa } from 'execa';
import { parse } from 'yaml';
import { alertsOf, DEFAULT_RULES_OPTIONS } from '../../dashboards/rules/index.ts';
import { program } from '../../src/cli/program.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { TOOL } from '../../src/version.ts';
import { inFolder } from '../support/cli.ts';
import { projectFile, readProjectFile } from '../support/compose.ts';
import { pathOf } from '../support/programs.ts';

const page = readProjectFile('docs/operations.md');
const flat = page.replace(/\s+/g, ' ');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  );
const blockWith = (language: string, text: string): string => {
  const found = blocks(language).find((block) => block.includes(text));
  assert.ok(found !== undefined, text);
  return found;
};
const unit = blockWith('ini', 'ExecStart');
const compose = parse(blockWith('yaml', 'services:')) as {
  services: Record<
    'shop' | 'exporter',
    { image: string; command: string[]; user: string; environment: object; mem_limit: string }
  >;
  volumes: Record<string, { driver_opts: { o: string } }>;
};
const sidecar = readProjectFile('deploy/kubernetes/sidecar/exporter.yaml');

/** As GitHub makes them of headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

function checkArguments([name = '', ...args]: readonly string[]): void {
  const root = program(new AbortController().signal, () => undefined);
  let command = root.commands.find((one) => one.name() === name);
  assert.ok(command, name);
  command = command.commands.find((one) => one.name() === args[0]) ?? command;
  assert.deepEqual(command.parseOptions(args).unknown, [], `${name} ${args.join(' ')}`);
}

describe('docs/operations.md', () => {
  it('links files and headings that are there', () => {
    const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    assert.ok(links.length > 15, String(links.length));
    for (const link of links) {
      const [path = '', anchor] = link.split('#');
      const file = path === '' ? projectFile('docs/operations.md') : new URL(path, projectFile('docs/'));
      assert.ok(existsSync(file), link);
      if (anchor !== undefined) assert.ok(anchorsOf(readFileSync(file, 'utf8')).includes(anchor), link);
    }
  });

  it('has commands and options that the program has', () => {
    const lines = [...blocks('sh'), unit].join('\n').split('\n');
    const inText = [...flat.matchAll(/`mcp-retention ([a-z][^`]*)`/g)].map(([, text = '']) => text);
    const inBlocks = lines.flatMap(
      (line) => /mcp-retention ((?:exporter|probe) [^)"]+)/.exec(line)?.[1] ?? [],
    );
    assert.ok(inText.length >= 4 && inBlocks.length >= 2);
    for (const text of [...inText, ...inBlocks]) checkArguments(text.split(' '));
    checkArguments(compose.services.exporter.command);
  });

  const systemd = pathOf('systemd-analyze') === null ? 'systemd-analyze is not on PATH' : false;
  it('has units that systemd takes', { skip: systemd }, () =>
    inFolder(async (folder) => {
      const start = /^ExecStart=\S+/m;
      const dropIn = blockWith('ini', 'PYTHONPATH').replace('[Service]', '[Service]\nExecStart=/bin/true');
      writeFileSync(join(folder, 'exporter.service'), unit.replace(start, 'ExecStart=/bin/true'));
      writeFileSync(join(folder, 'shop.service'), dropIn);
      const units = ['exporter.service', 'shop.service'].map((name) => join(folder, name));
      const { exitCode, all } = await execa('systemd-analyze', ['verify', '--man=no', ...units], {
        all: true,
        reject: false,
      });
      assert.equal(exitCode, 0, all);
      // It may have something to say of the machine's own units.
      assert.doesNotMatch(all, /(exporter|shop)\.service/);
    }),
  );

  it('gives the directory to one user and one group in the same way everywhere', () => {
    assert.match(page, /^d \/run\/mcp-retention\/shop 2750 shop mcp-retention -$/m);
    const { shop, exporter } = compose.services;
    const options = Object.fromEntries(
      (compose.volumes['probe-shop']?.driver_opts.o ?? '').split(',').map((text) => text.split('=')),
    ) as Record<string, string>;
    assert.deepEqual(
      [options.uid, options.gid, options.mode],
      [shop.user.split(':')[0], exporter.user.split(':')[1], '2750'],
    );
    assert.ok(sidecar.includes(`runAsGroup: ${options.gid}`));
  });

  it('is valid by the Compose specification', () => {
    const schema = JSON.parse(readProjectFile('node_modules/dclint/schemas/compose.schema.json')) as Record<
      string,
      unknown
    >;
    delete schema.$schema;
    const validate = new Ajv({ strict: false, allErrors: true, logger: false }).compile(schema);
    assert.ok(validate(compose), JSON.stringify(validate.errors));
  });

  it('bounds the exporter’s memory as the sidecar does', () => {
    const [, options = ''] = /NODE_OPTIONS, value: (.*) \}/.exec(sidecar) ?? [];
    const [, limit = ''] = /limits: \{ memory: (\d+)Mi \}/.exec(sidecar) ?? [];
    assert.ok(unit.includes(`Environment="NODE_OPTIONS=${options}"`) && unit.includes(`MemoryMax=${limit}M`));
    const { environment, mem_limit } = compose.services.exporter;
    assert.deepEqual([environment, mem_limit], [{ NODE_OPTIONS: options }, `${limit}m`]);
  });

  it('has a kustomization of folders that are there, at this version', () => {
    const { components, images } = parse(blockWith('yaml', 'components:')) as {
      components: string[];
      images: { newTag: string }[];
    };
    for (const component of components) {
      const [, path = '', version] = /[^:]\/\/(.+)\?ref=v(.+)$/.exec(component) ?? [];
      assert.match(readProjectFile(`${path}/kustomization.yaml`), /^kind: Component$/m);
      assert.equal(version, TOOL.version);
    }
    assert.deepEqual(
      images.map(({ newTag }) => newTag),
      [TOOL.version],
    );
  });

  it('names metrics, alerts and messages that there are', () => {
    const known = new Set(CATALOGUE.map(({ name }) => name));
    for (const [name] of page.matchAll(/\bmcp_(?!retention)[a-z_]+\b/g)) assert.ok(known.has(name), name);
    const alerts = alertsOf(DEFAULT_RULES_OPTIONS).map(({ name }): string => name);
    for (const [name] of page.matchAll(/\bMcp[A-Z]\w+/g)) assert.ok(alerts.includes(name), name);
    const said: [string, string][] = [
      ['probes/python/mcp_retention_probe/address.py', 'is writable by others'],
      ['probes/python/mcp_retention_probe/address.py', 'another process listens at'],
      ['probes/python/mcp_retention_probe/listener.py', 'mcp-retention-probe:'],
      ['exporters/failures.ts', 'There is no living worker: nothing was read.'],
    ];
    for (const [file, text] of said)
      assert.ok(readProjectFile(file).includes(text) && flat.includes(text), text);
  });

  it('has the figures of the probe’s own page, and of docs/scale.md', () => {
    const probe = readProjectFile('probes/python/README.md').replace(/\s+/g, ' ');
    for (const figure of ['3 to 4 µs', '0.1 KiB', 'about 0.01 ms'])
      assert.ok(probe.includes(figure) && flat.includes(figure), figure);
    const scale = readProjectFile('docs/scale.md').replace(/\s+/g, ' ');
    assert.ok(scale.includes('took 47.5 ms (median) for 100 workers') && flat.includes('47.5 ms (median)'));
    assert.ok(scale.includes('`33 + 7 = 40` of a worker with one manager') && flat.includes('is 40 series'));
  });
});
