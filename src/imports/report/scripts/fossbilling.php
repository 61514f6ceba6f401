<?php
// FOSSBilling 0.6 and newer: a service of hosting has a server, whose manager is the module, and a hosting plan.

final class Fossbilling extends BillingSystem
{
    public function name(): string
    {
        return 'fossbilling';
    }

    public function tables(): array
    {
        return [
            'service_hosting' => [
                'id', 'client_id', 'service_hosting_server_id', 'service_hosting_hp_id', 'sld', 'tld', 'ip', 'username',
            ],
            'service_hosting_server' => ['id', 'name', 'manager', 'username'],
            'service_hosting_hp' => ['id', 'name', 'config'],
            'client_order' => ['id', 'client_id', 'service_id', 'service_type', 'status'],
            'client' => ['id', 'email'],
            'setting' => ['param', 'value'],
        ];
    }

    public function installation(): string
    {
        $given = trim((string) $this->target()['username']);
        $kept = $this->db->find('setting', ['value'], ['param' => 'berth_installation'])[0]['value'] ?? '';
        $words = 'FOSSBilling has no installation of Berth yet: open its server under Hosting plans and servers once.';
        return self::installationIn(preg_match('/^[a-z0-9]{8}$/D', $given) ? $given : (string) $kept, $words);
    }

    public function services(): array
    {
        $others = array_filter($this->entries(), fn ($one) => $one['manager'] !== 'Berth');
        $field = $this->options['old-field'] ?? 'ip';
        if (!in_array($field, ['username', 'ip', 'domain'], true)) {
            throw new Refused('--old-field is username, ip or domain here.');
        }
        $column = ['username' => 'h.username', 'ip' => 'h.ip', 'domain' => 'h.sld'][$field];
        $found = $this->on($this->oldServers(array_values($others)), $column);
        if ($field === 'username') {
            return $found;
        }
        // Its address, or its name, stands for the id.
        $ids = [];
        foreach ($this->options['rows'] as $row) {
            $ids[$field === 'ip' ? (string) $row['oldIpv4'] : $row['hostname']][] = $row['oldId'];
        }
        $known = [];
        foreach ($found as $service) {
            $fit = $ids[$field === 'ip' ? $service['old'] : $service['label']] ?? [];
            if (count($fit) === 1) {
                $known[] = ['old' => $fit[0]] + $service;
            }
        }
        return $known;
    }

    /** FOSSBilling keeps no id of Berth's server: the order is known by the name that Berth has for it. */
    public function switched(): array
    {
        return $this->on([(string) $this->target()['id']], "''");
    }

    public function changes(array $service, array $row): array
    {
        $plans = array_map(fn ($plan) => [
            'id' => $plan['id'],
            'package' => (json_decode((string) $plan['config'], true) ?: [])['berth_package'] ?? null,
        ], $this->db->rows('SELECT id, config FROM service_hosting_hp'));
        $plans = array_values(array_filter($plans, fn ($plan) => $plan['package'] !== null));
        $after = [
            'service_hosting_server_id' => $this->target()['id'],
            'service_hosting_hp_id' => $this->productFor($service['product'], $row, $plans),
        ];
        if ($row['ipv4'] !== null) {
            $after['ip'] = $row['ipv4'];
        }
        return self::update('service_hosting', ['id' => $service['row']['id']], $service['row'], $after);
    }

    /** The services on these servers, each with its order. */
    private function on(array $servers, string $column): array
    {
        $found = $this->db->rows(
            "SELECT h.id, h.client_id, h.service_hosting_server_id, h.service_hosting_hp_id, h.sld, h.tld, h.ip,
               o.id AS `order`, c.email, $column AS old
             FROM service_hosting h
               JOIN client_order o ON o.service_id = h.id AND o.service_type = 'hosting' AND o.status IN ('active', 'suspended')
               JOIN client c ON c.id = h.client_id
             WHERE h.service_hosting_server_id IN (" . Database::marks($servers) . ')',
            $servers,
        );
        return array_map(fn ($row) => [
            'id' => (string) $row['order'], 'client' => (string) $row['client_id'], 'email' => (string) $row['email'],
            'product' => (string) $row['service_hosting_hp_id'], 'label' => $row['sld'] . $row['tld'],
            'old' => trim((string) $row['old']), 'row' => $row,
        ], $found);
    }

    private function entries(): array
    {
        return $this->db->rows('SELECT id, name, manager, username FROM service_hosting_server');
    }

    private function target(): array
    {
        $ours = array_values(array_filter($this->entries(), fn ($one) => $one['manager'] === 'Berth'));
        return $this->only($ours, $this->options['server'], 'server with the manager Berth', 'server');
    }
}
