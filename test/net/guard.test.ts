import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGuard, OutboundRefused } from '../../src/net/guard.ts';
import { describeCorpus, readJson, readJsonLines } from '../fixtures.ts';

const guard = createGuard({ allowPrivateHosts: [], publicUrl: null });

function verdict(url: string): string {
  try {
    return `allow ${guard(url, 'tool').url.protocol}`;
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    return error.rule;
  }
}

describe('the outbound guard', () => {
  it('names the rule that rejected a URL and the setting that would allow it', () => {
    expect(() => guard('http://10.1.2.3:9000/x', 'tool')).toThrow(/not a public address.*MONIKER_ALLOW_PRIVATE_HOSTS=10\.1\.2\.3:9000/);
    expect(() => guard('http://ollama.internal:11434/v1', 'provider')).toThrow(
      /MONIKER_ALLOW_PRIVATE_HOSTS=providers:ollama\.internal:11434/,
    );
    expect(() => guard('https://example.com:6379/', 'tool')).toThrow(/Port 6379/);
  });

  it('allows hosts that the operator lists, for the named purpose', () => {
    const open = createGuard({
      allowPrivateHosts: ['127.0.0.1:*', 'providers:ollama.internal:11434', 'servers:[::1]:3000', 'webhooks:pager.lan:8000', '*.lan:80'],
      publicUrl: null,
    });
    expect(open('http://127.0.0.1:9999/a', 'tool').url.port).toBe('9999');
    expect(open('http://2130706433:1/', 'tool').url.hostname).toBe('127.0.0.1');
    expect(open('http://OLLAMA.internal.:11434/v1', 'provider').url.port).toBe('11434');
    expect(open('http://[0:0:0:0:0:0:0:1]:3000/mcp', 'server').url.port).toBe('3000');
    expect(open('http://printer.lan/', 'webhook').url.hostname).toBe('printer.lan');
    expect(open('http://pager.lan:8000/', 'webhook').url.port).toBe('8000');
    expect(() => open('http://pager.lan:8000/', 'server')).toThrow(OutboundRefused);
    expect(() => open('http://ollama.internal:11434/v1', 'tool')).toThrow(OutboundRefused);
    expect(() => open('http://ollama.internal:11435/v1', 'provider')).toThrow(OutboundRefused);
    expect(() => open('http://[::1]:3000/mcp', 'tool')).toThrow(OutboundRefused);
    expect(() => open('http://lan/', 'tool')).toThrow(OutboundRefused);
    expect(() => open('http://evil-127.0.0.1.lan.internal/', 'tool')).toThrow(OutboundRefused);
  });

  it('never reaches Moniker itself, even where its address is listed', () => {
    const open = createGuard({
      allowPrivateHosts: ['127.0.0.1:*', 'localhost:*'],
      publicUrl: 'https://moniker.example.com',
      localUrl: 'http://127.0.0.1:8787',
    });
    expect(() => open('https://moniker.example.com./v1', 'provider')).toThrow(/^loop_detected: /);
    expect(() => open('http://localhost:8787/v1', 'tool')).toThrow(/^loop_detected: /);
    expect(() => open('http://127.9.9.9:8787/v1', 'server')).toThrow(/^loop_detected: /);
    expect(open('http://localhost:8788/v1', 'tool').url.port).toBe('8788');
  });

  it('does not start with an invalid pattern', () => {
    for (const pattern of ['*', '*:*', 'localhost', 'tools:localhost:1', 'http://localhost:80', '[::1]', 'a b:1', '::1:80']) {
      expect(() => createGuard({ allowPrivateHosts: [pattern], publicUrl: null }), pattern).toThrow(/MONIKER_ALLOW_PRIVATE_HOSTS/);
    }
  });

  it('treats an IPv4 address the same in every IPv6 form that embeds it', () => {
    fc.assert(
      fc.property(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), ([a, b, c, d]) => {
        const plain = verdict(`http://${a}.${b}.${c}.${d}/`);
        const [high, low] = [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
        for (const form of [`::ffff:${high}:${low}`, `64:ff9b::${high}:${low}`, `::ffff:0:${high}:${low}`, `2002:${high}:${low}::1`]) {
          expect(verdict(`http://[${form}]/`), form).toBe(plain);
        }
      }),
    );
  });
});

type UrlRow = { id: string; url: string; expect: 'block' | 'allow' | 'invalid' | 'block-after-dns' };

describeCorpus('security/ssrf-urls.jsonl', (path) => {
  it('has the verdict that its row expects', () => {
    const wrong = readJsonLines<UrlRow>(path).filter((row) => {
      const result = verdict(row.url);
      // URL parsers differ for a bare `xn--`; if it parses, it is rejected as a name. Either way nothing is sent.
      if (row.expect === 'invalid') return result !== (row.url === 'http://xn--/' ? 'name' : 'url');
      // A name that resolves to a private address is left to the network layer: the text check must pass it.
      return (row.expect === 'block') === result.startsWith('allow');
    });
    expect(wrong).toEqual([]);
  });
});

type Range = { address: string; expect: 'block' | 'allow' };

describeCorpus('security/ip-ranges.json', (path) => {
  it('is classified correctly at both ends of every range and next to them', () => {
    const { boundaries } = readJson<{ boundaries: Range[] }>(path);
    const wrong = boundaries.filter(({ address, expect: expected }) => {
      const result = verdict(`http://${address.includes(':') ? `[${address}]` : address}/`);
      return (expected === 'block') === result.startsWith('allow');
    });
    expect(boundaries.length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });
});

describeCorpus('security/url-corpus.json', (path) => {
  it('gets a decision for each input, and what is allowed is http(s) to a public host', () => {
    const { cases } = readJson<{ cases: { input: string; base?: string }[] }>(path);
    let allowed = 0;
    for (const { input, base } of cases) {
      for (const url of [input, base === undefined ? input : (URL.parse(input, base)?.href ?? input)]) {
        const result = verdict(url);
        if (!result.startsWith('allow')) continue;
        allowed += 1;
        const parsed = new URL(url);
        expect(parsed.protocol).toMatch(/^https?:$/);
        expect(parsed.hostname).toMatch(/\.|:/);
        expect(parsed.username + parsed.password).toBe('');
      }
    }
    expect(allowed).toBeGreaterThan(100);
  });
});
