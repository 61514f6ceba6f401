<?php
// Blesta 5: a service belongs to the module of its package, by the price of the package that it has.

final class Blesta extends BillingSystem
{
    /** The modules of the panels of before, and the field that has the id there. */
    private const MODULES = ['virtualizor' => ['virtualizor', 'vpsid'], 'solusvm2' => ['solusvm2', 'solusvm2_server_id']];

    public function name(): string
    {
        return 'blesta';
    }

    public function tables(): array
    {
        return [
            'services' => ['id', 'pricing_id', 'client_id', 'module_row_id', 'override_price', 'status'],
            'service_fields' => ['service_id', 'key', 'value', 'serialized', 'encrypted'],
            'modules' => ['id', 'class'],
            'module_rows' => ['id', 'module_id'],
            'module_row_meta' => ['module_row_id', 'key', 'value'],
            'packages' => ['id', 'module_id'],
            'package_meta' => ['package_id', 'key', 'value'],
            'package_pricing' => ['id', 'package_id', 'pricing_id'],
            'pricings' => ['id', 'term', 'period', 'price', 'currency'],
            'contacts' => ['client_id', 'contact_type', 'email'],
        ];
    }

    public function installation(): string
    {
        $words = 'The panel of Berth in Blesta has no id of the installation: edit the panel and save it once.';
        return self::installationIn($this->meta((string) $this->target()['id'], 'installation'), $words);
    }

    public function services(): array
    {
        [$module, $field] = self::MODULES[$this->options['kind']] ?? ['', ''];
        $entries = $this->entries($module);
        return $this->with($this->options['old-field'] ?? $field, $this->oldServers($entries));
    }

    public function switched(): array
    {
        return array_filter($this->with('berth_server', [(string) $this->target()['id']]), fn ($one) => $one['old'] !== '');
    }

    public function changes(array $service, array $row): array
    {
        $products = $this->db->rows(
            "SELECT p.id, m.value AS package FROM packages p JOIN modules o ON o.id = p.module_id AND o.class = 'berth'
             JOIN package_meta m ON m.package_id = p.id AND m.`key` = 'package'",
        );
        $package = $this->productFor($service['product'], $row, $products);
        $fields = [
            'berth_hostname' => $row['hostname'], 'berth_service' => $service['id'], 'berth_server' => $row['serverId'],
            'berth_ipv4' => $row['ipv4'] ?? '', 'berth_user' => '', 'berth_password' => '',
        ];
        $changes = [];
        foreach ($fields as $name => $value) {
            $key = ['service_id' => $service['id'], 'key' => $name];
            array_push($changes, ...$this->put('service_fields', $key, ['value' => $value], ['serialized' => 0, 'encrypted' => 0]));
        }
        $after = ['pricing_id' => $this->pricing($service['row'], $package), 'module_row_id' => $this->target()['id']];
        return [...$changes, ...self::update('services', ['id' => $service['id']], $service['row'], $after)];
    }

    /** The price of the package that is the same for the client. Throws when there is none: nobody pays something else. */
    private function pricing(array $service, string $package): string
    {
        $found = $this->db->rows(
            'SELECT n.id, q.price FROM package_pricing o JOIN pricings p ON p.id = o.pricing_id
               JOIN pricings q ON q.term = p.term AND q.period = p.period AND q.currency = p.currency
               JOIN package_pricing n ON n.pricing_id = q.id AND n.package_id = ?
             WHERE o.id = ? AND (? = 1 OR q.price = p.price)',
            [$package, $service['pricing_id'], $service['override_price'] === null ? 0 : 1],
        );
        return count($found) === 1 ? (string) $found[0]['id'] : throw new Refused(
            "the package $package has no price with the same term, currency and amount: add it in Blesta",
        );
    }

    /** The services of these rows of a module that have this field. */
    private function with(string $field, array $rows): array
    {
        $found = $this->db->rows(
            "SELECT s.id, s.client_id, s.pricing_id, s.module_row_id, s.override_price, f.value AS old, p.package_id,
               (SELECT min(c.email) FROM contacts c WHERE c.client_id = s.client_id AND c.contact_type = 'primary') AS email
             FROM services s JOIN service_fields f ON f.service_id = s.id AND f.`key` = ?
               JOIN package_pricing p ON p.id = s.pricing_id
             WHERE s.module_row_id IN (" . Database::marks($rows) . ") AND s.status IN ('active', 'suspended')",
            [$field, ...$rows],
        );
        return array_map(fn ($row) => [
            'id' => (string) $row['id'], 'client' => (string) $row['client_id'], 'email' => (string) $row['email'],
            'product' => (string) $row['package_id'], 'label' => "client {$row['client_id']}",
            'old' => trim((string) $row['old']), 'row' => $row,
        ], $found);
    }

    private function entries(string $class): array
    {
        return $this->db->rows(
            'SELECT r.id, o.class AS name FROM module_rows r JOIN modules o ON o.id = r.module_id WHERE o.class = ?',
            [$class],
        );
    }

    private function meta(string $row, string $key): string
    {
        return (string) ($this->db->find('module_row_meta', ['value'], ['module_row_id' => $row, 'key' => $key])[0]['value'] ?? '');
    }

    private function target(): array
    {
        return $this->only($this->entries('berth'), $this->options['server'], 'panel of Berth', 'server');
    }
}
