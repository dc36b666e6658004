/** docker-compose.yml without Docker: by its schema, and by what a schema does not say. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { execa } from 'execa';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { program } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config/load.ts';
import {
  directoryOf,
  entrypointOf,
  mountOf,
  projectFile,
  readCompose,
  readProjectFile,
  type Service,
} from '../support/compose.ts';
import { prometheusMissing } from '../support/prometheus.ts';

const compose = readCompose();
const services = Object.entries(compose.services);
const ours = services.flatMap(([name, service]) =>
  service.build === undefined ? [] : [{ name, service, dockerfile: service.build.dockerfile }],
);
const every = (claim: (service: Service, name: string) => void): void => {
  for (const [name, service] of services) claim(service, name);
};
const isServer = ({ build }: Service): boolean => build?.dockerfile === 'deploy/python-server.Dockerfile';
const isK6 = ({ image = '' }: Service): boolean => image.startsWith('grafana/k6:');

describe('docker-compose.yml', () => {
  it('is valid by the Compose specification', () => {
    const path = projectFile('node_modules/dclint/schemas/compose.schema.json');
    const schema = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    // It names its dialect by an address that ajv does not know it under.
    delete schema.$schema;
    const validate = new Ajv({ strict: false, allErrors: true, logger: false }).compile(schema);
    assert.ok(validate(compose), JSON.stringify(validate.errors, null, 2));
  });

  it('pins every image', () => {
    every(({ image = '' }, name) => assert.match(image, /:(v?\d+\.\d+\.\d+|local)$/, name));
    for (const { dockerfile } of ours) {
      const text = readProjectFile(dockerfile);
      assert.match(text, /^ARG \w+_IMAGE=[a-z]+:\d+\.\d+\.\d+-/m);
      for (const [, image] of text.matchAll(/^FROM (\S+)/gm)) assert.match(image ?? '', /^\$\{\w+_IMAGE\}$/);
    }
  });

  it('builds each image of ours by one service, and asks no registry for it', () => {
    const images = new Map<string, string[]>();
    for (const { service } of ours)
      images.set(service.image ?? '', [
        ...(images.get(service.image ?? '') ?? []),
        service.pull_policy ?? '',
      ]);
    for (const [image, policies] of images) {
      assert.equal(policies.filter((policy) => policy === 'build').length, 1, image);
      assert.ok(
        policies.every((policy) => ['build', 'never'].includes(policy)),
        image,
      );
    }
  });

  it('publishes on loopback only', () => {
    every(({ ports = [] }) => {
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/);
    });
  });

  it('hardens every service', () => {
    every((service, name) => {
      assert.match(service.user ?? '', /^[1-9]\d*:\d+$/, name);
      assert.equal(service.read_only, true, name);
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.match(service.mem_limit ?? '', /^\d+m$/, name);
      // A load by k6 ends by itself.
      assert.match(service.restart ?? '', isK6(service) ? /^no$/ : /^(always|unless-stopped)$/, name);
    });
  });

  it('checks the health of every service, and never at the MCP endpoint', () => {
    every(({ healthcheck }, name) => {
      const command = healthcheck?.test.join(' ') ?? '';
      assert.match(command, /http:\/\/127\.0\.0\.1:\d+\/(healthz|-\/healthy|api\/health|v1\/status)\b/, name);
      assert.doesNotMatch(command, /:\d+\/mcp/, name);
    });
  });

  it('waits for services that are there, are checked, and are in the same profile', () => {
    every(({ depends_on = {}, profiles = [] }, name) => {
      for (const [other, { condition }] of Object.entries(depends_on)) {
        assert.equal(condition, 'service_healthy', name);
        const needed = compose.services[other];
        assert.ok(needed?.healthcheck, `${name} waits for ${other}`);
        // Those without a profile are always there.
        assert.deepEqual(needed.profiles ?? profiles, profiles, `${name} waits for ${other}`);
      }
    });
  });

  it('mounts what is there: files and declared volumes', () => {
    const used = new Set<string>();
    every(({ volumes = [] }, name) => {
      for (const { source, mode } of volumes.map(mountOf)) {
        if (!source.startsWith('./')) used.add(source);
        else {
          assert.ok(existsSync(projectFile(source)), `${name}: ${source}`);
          assert.equal(mode, 'ro', `${name}: ${source}`);
        }
      }
    });
    assert.deepEqual([...used].sort(), Object.keys(compose.volumes).sort());
  });

  it('gives each server a probe directory of its own, which exporter and load share', () => {
    const servers = services.filter(([, service]) => isServer(service));
    const volumes = servers.map(([, { volumes: [volume = ''] = [] }]) => mountOf(volume));
    assert.equal(new Set(volumes.map(({ source }) => source)).size, servers.length);
    for (const { target } of volumes)
      assert.match(
        readProjectFile('deploy/python-server.Dockerfile'),
        new RegExp(`PROBE_DIR=${target}$`, 'm'),
      );
    for (const { source } of volumes)
      assert.equal(
        ours.filter(({ service }) => service.volumes?.some((one) => one.startsWith(`${source}:`))).length,
        3,
        source,
      );
  });

  it('runs exporter and load as another user than the servers, who reads the probes by their group', () => {
    const usersOf = (wanted: boolean): string[] => [
      ...new Set(ours.filter((one) => isServer(one.service) === wanted).map((one) => one.service.user ?? '')),
    ];
    const [server = '', ...servers] = usersOf(true);
    const [reader = '', ...readers] = usersOf(false);
    assert.deepEqual([...servers, ...readers], []);
    const [uid, serverGroup] = server.split(':').map(Number);
    const [readerUid, gid] = reader.split(':').map(Number);
    assert.ok(uid !== readerUid && gid !== serverGroup, `${server} and ${reader}`);
    for (const { name, service, dockerfile } of ours) {
      assert.match(readProjectFile(dockerfile), new RegExp(`^USER ${service.user ?? ''}$`, 'm'), name);
      for (const { source, target } of (service.volumes ?? []).map(mountOf)) {
        if (source.startsWith('./')) continue;
        // An empty volume takes owner and mode of any image's directory at its place: only the server's may have one.
        const wanted = isServer(service) ? { uid, gid, mode: 0o2750 } : null;
        assert.deepEqual(directoryOf(dockerfile, target), wanted, `${name}: ${target}`);
      }
    }
  });
});

describe('commands of docker-compose.yml', () => {
  const tools = ours.filter(({ service }) => !isServer(service));

  it('name options that our program has, with values that it takes', () => {
    const root = program(new AbortController().signal, () => undefined);
    for (const { name, service, dockerfile } of tools) {
      assert.match(entrypointOf(dockerfile).join(' '), /^node .*\/dist\/src\/cli\/main\.js$/);
      const [command = '', ...args] = service.command ?? [];
      const found = root.commands.find((one) => one.name() === command);
      assert.ok(found, `${name}: ${command}`);
      assert.deepEqual(found.parseOptions(args).unknown, [], name);
    }
  });

  it('name targets, hosts and probe directories that the configuration has', async () => {
    for (const { name, service } of tools) {
      const mounts = (service.volumes ?? []).map(mountOf);
      const file = mounts.find(({ target }) => target === '/etc/mcp-retention.yaml')?.source ?? '';
      const config = await loadConfig(projectFile(file).pathname);
      const directories = Object.values(config.exporter.targets).map(({ probeDir }) => probeDir);
      for (const directory of directories)
        assert.ok(
          mounts.some(({ target }) => target === directory),
          `${name}: ${String(directory)}`,
        );
      for (const target of Object.values(config.targets)) {
        assert.ok('url' in target);
        const host = new URL(target.url).hostname;
        assert.ok(compose.services[host]?.command?.includes(`${host}:8000`), host);
        if (service.command?.[0] === 'load') assert.ok(service.command.includes(host), host);
      }
    }
  });

  it("are what the servers' own program takes", async () => {
    const { stdout } = await execa('python3', [projectFile('servers/python/server.py').pathname, '--help']);
    for (const { name, service } of ours.filter((one) => isServer(one.service)))
      for (const option of (service.command ?? []).filter((text) => text.startsWith('--')))
        assert.ok(stdout.includes(option), `${name}: ${option}`);
  });

  it('are what Prometheus takes', { skip: prometheusMissing }, async () => {
    const { all } = await execa('prometheus', ['--help'], { all: true });
    for (const option of compose.services.prometheus?.command ?? [])
      assert.ok(all.includes(option.replace(/=.*/, '=')), option);
  });
});

describe('the profile k6', () => {
  it('runs a script of ours, as it is mounted, against a server that it may load, and writes to Prometheus', () => {
    const [[, k6] = []] = services.filter(([, service]) => isK6(service));
    assert.ok(k6);
    const { environment = {}, volumes = [], command = [] } = k6;
    const script = command.at(-1) ?? '';
    const mount = volumes.map(mountOf).find(({ target }) => script.startsWith(`${target}/`));
    assert.ok(existsSync(projectFile(script.replace(mount?.target ?? '', mount?.source ?? ''))), script);
    const host = new URL(environment.TARGET ?? '').hostname;
    assert.equal(environment.ALLOW_HOST, host);
    assert.equal(environment.TARGET_NAME, host, 'the name that the exporter gives it');
    assert.ok(isServer(compose.services[host] ?? {}));
    assert.equal(environment.K6_PROMETHEUS_RW_SERVER_URL, 'http://prometheus:9090/api/v1/write');
    assert.ok(compose.services.prometheus?.command?.includes('--web.enable-remote-write-receiver'));
  });
});

describe('deploy/', () => {
  it('installs from locks with hashes, one for each server', () => {
    for (const { service, dockerfile } of ours.filter((one) => isServer(one.service))) {
      assert.match(readProjectFile(dockerfile), /--require-hashes/);
      const version = service.build?.args?.MCP_VERSION ?? '';
      assert.ok(existsSync(projectFile(`servers/python/locks/mcp-${version}.txt`)), version);
      assert.equal(service.image, `mcp-retention-server:${version}`);
    }
  });

  it('copies what is there, and what .dockerignore lets through', () => {
    const allowed = readProjectFile('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    for (const dockerfile of new Set(ours.map((one) => one.dockerfile)))
      for (const [, paths = ''] of readProjectFile(dockerfile).matchAll(/^COPY (?!--from)(.+)$/gm))
        for (const path of paths.split(' ').slice(0, -1)) {
          const real = path.replace('${MCP_VERSION}', '1.29.1');
          assert.ok(existsSync(projectFile(real)), path);
          assert.ok(
            allowed.some((prefix) => real === prefix || real.startsWith(`${prefix}/`)),
            `${path} is kept out by .dockerignore`,
          );
        }
  });

  it('shows its dashboards from the data source that it provisions, the first one at home', () => {
    const { environment = {}, volumes = [] } = compose.services.grafana ?? {};
    const targets = volumes.map((volume) => mountOf(volume).target);
    assert.ok(targets.includes(environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH ?? ''));
    const provider = parse(readProjectFile('deploy/grafana/provisioning/dashboards/mcp-retention.yaml')) as {
      providers: { options: { path: string } }[];
    };
    const folder = provider.providers[0]?.options.path ?? '';
    assert.equal(
      targets.filter((target) => target.startsWith(`${folder}/`) && target.endsWith('.json')).length,
      3,
    );
    const source = parse(readProjectFile('deploy/grafana/provisioning/datasources/prometheus.yaml')) as {
      datasources: { url: string; isDefault: boolean }[];
    };
    assert.equal(source.datasources[0]?.isDefault, true);
    assert.equal(source.datasources[0].url, 'http://prometheus:9090');
  });
});
