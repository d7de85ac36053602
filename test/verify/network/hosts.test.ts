import { expect, it } from 'vitest';
import { allowedHost, isAllowed } from '../../../backend/verify/sandbox/network/hosts.ts';

it.each([
  ['api.example.com', { name: 'api.example.com', port: 443, isHere: false }],
  ['*.Example.com:8443', { name: '*.example.com', port: 8443, isHere: false }],
  ['127.0.0.1:11434', { name: '127.0.0.1', port: 11434, isHere: true }],
  ['localhost:8080', { name: 'localhost', port: 8080, isHere: true }],
  ['localhost', undefined], ['localhost:80', undefined], ['*', undefined], ['*.*.com', undefined], ['https://example.com', undefined], ['example.com/path', undefined], ['example.com:0', undefined],
  ['example.com:70000', undefined], ['user@example.com', undefined], ['', undefined], ['-example.com', undefined], ['[::1]:80', undefined],
])('reads the host %j', (written, host) => {
  expect(allowedHost(written)).toEqual(host);
});

it('allows the hosts that are named, by their ports, and no others', () => {
  const hosts = ['api.example.com', '*.open.example:8443', '127.0.0.1:5000'].flatMap((written) => allowedHost(written) ?? []);
  const allowed = (host: string, port: number): boolean => isAllowed(hosts, host, port);
  expect([allowed('api.example.com', 443), allowed('API.Example.com.', 443), allowed('a.b.open.example', 8443)]).toEqual([true, true, true]);
  expect([
    allowed('api.example.com', 80), allowed('xapi.example.com', 443), allowed('api.example.com.evil.example', 443), allowed('open.example', 8443), allowed('.open.example', 8443),
    allowed('notopen.example', 8443), allowed('127.0.0.1', 5000), allowed('localhost', 443), allowed('', 443),
  ]).toEqual(Array.from({ length: 9 }, () => false));
});
