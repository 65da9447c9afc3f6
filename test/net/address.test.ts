import { describe, expect, it } from 'vitest'
import { formatAddress, parseAddress } from '../../src/net/address.js'

describe('addresses', () => {
  it.each([
    ['localhost:9092', { host: 'localhost', port: 9092 }],
    ['10.0.0.7:1', { host: '10.0.0.7', port: 1 }],
    ['[::1]:9092', { host: '::1', port: 9092 }],
    ['[fe80::1%eth0]:9093', { host: 'fe80::1%eth0', port: 9093 }],
    ['kafka-1.example.com.:65535', { host: 'kafka-1.example.com.', port: 65_535 }],
  ])('T96 reads %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address)
  })

  it.each([
    'localhost',
    ':9092',
    '::1:9092',
    'kafka://host:9092',
    'a:0',
    'a:70000',
    'a b:1',
    'user@host:1',
    '[]:1',
    '',
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })

  it('T96 shows an IPv6 host in brackets, whether the broker sent them or not', () => {
    expect(formatAddress({ host: '::1', port: 9092 })).toBe('[::1]:9092')
    expect(formatAddress({ host: '[::1]', port: 9092 })).toBe('[::1]:9092')
    expect(formatAddress({ host: 'b1', port: 9092 })).toBe('b1:9092')
  })
})
