<?php
// FOSSBilling server manager for Berth. The order waits for its setup: the client chooses system and access in the panel,
// because FOSSBilling makes up a password before the order and Berth takes none. See README.md.

declare(strict_types=1);

require_once __DIR__ . '/Berth/BerthClient.php';

class Server_Manager_Berth extends Server_Manager
{
    public static function getForm(): array
    {
        return [
            'label' => 'Berth',
            'form' => [
                'credentials' => [
                    'fields' => [
                        [
                            'name' => 'accesshash',
                            'type' => 'text',
                            'label' => 'API token',
                            'placeholder' => 'A token with the preset for billing, pnl_…',
                            'required' => true,
                        ],
                    ],
                ],
            ],
        ];
    }

    /** The user name is the identifier of the service: FOSSBilling keeps it and gives it with every call. */
    public function generateUsername(string $domain): string
    {
        return 'b' . bin2hex(random_bytes(7));
    }

    public function getLoginUrl(?Server_Account $account): string
    {
        if ($account === null) {
            return $this->address();
        }
        return $this->words(fn () => $this->client()->signInLink($this->serverOf($account)['id']));
    }

    public function getResellerLoginUrl(?Server_Account $account): string
    {
        return $this->getLoginUrl($account);
    }

    public function testConnection(): bool
    {
        return $this->words(function () {
            $missing = $this->client()->connection()['missingScopes'];
            if ($missing !== []) {
                throw new Server_Exception('Berth: the token lacks ' . implode(', ', $missing) . '.');
            }
            return true;
        });
    }

    public function createAccount(Server_Account $account): bool
    {
        return $this->words(function () use ($account) {
            $client = $account->getClient();
            $berth = $this->client();
            $order = [
                'ownerId' => $berth->customer(
                    'fossbilling:' . ($client->getId() ?? $client->getEmail()),
                    $client->getFullName() ?? $client->getEmail(),
                    $client->getEmail(),
                    $client->getCompany() ?? '',
                ),
                'packageId' => $this->value($account->getPackage(), 'berth_package'),
                'nodeGroupId' => $this->value($account->getPackage(), 'berth_location'),
                'billingServiceId' => $this->serviceOf($account),
            ];
            $made = $berth->order($order, bin2hex(random_bytes(8)));
            $account->setIp($made['ipv4']);
            return true;
        });
    }

    public function synchronizeAccount(Server_Account $account): Server_Account
    {
        return $this->words(function () use ($account) {
            $server = $this->serverOf($account);
            $synchronized = clone $account;
            return $synchronized->setIp($server['ipv4'])->setSuspended($server['status'] === 'suspended');
        });
    }

    public function suspendAccount(Server_Account $account): bool
    {
        $reason = trim($account->getNote() ?? '');
        return $this->done(fn () => $this->client()->suspend($this->serverOf($account)['id'], $reason));
    }

    public function unsuspendAccount(Server_Account $account): bool
    {
        return $this->done(fn () => $this->client()->unsuspend($this->serverOf($account)['id']));
    }

    /** A service whose server is gone already counts as cancelled. */
    public function cancelAccount(Server_Account $account): bool
    {
        return $this->done(function () use ($account) {
            $server = $this->client()->serverOf($this->serviceOf($account));
            if ($server !== null) {
                $this->client()->terminate($server['id']);
            }
        });
    }

    public function changeAccountPackage(Server_Account $account, Server_Package $package): bool
    {
        return $this->done(fn () => $this->client()->changePackage(
            $this->serverOf($account)['id'],
            $this->value($package, 'berth_package'),
        ));
    }

    public function changeAccountPassword(Server_Account $account, string $newPassword): bool
    {
        throw new Server_Exception('Berth sets no password from outside: reinstall the server in the panel, or change it inside.');
    }

    public function changeAccountUsername(Server_Account $account, string $newUsername): bool
    {
        throw new Server_Exception('The user name is how Berth knows this service, so it stays.');
    }

    public function changeAccountDomain(Server_Account $account, string $newDomain): bool
    {
        throw new Server_Exception('The hostname of a server is changed in the panel, by a reinstallation.');
    }

    public function changeAccountIp(Server_Account $account, string $newIp): bool
    {
        throw new Server_Exception('Berth gives the addresses, so that none is used twice.');
    }

    private function client(): BerthClient
    {
        return $this->berth ??= new BerthClient($this->address(), trim((string) $this->_config['accesshash']));
    }
    private ?BerthClient $berth = null;

    private function address(): string
    {
        $port = (string) ($this->_config['port'] ?? '');
        return ($this->_config['secure'] ? 'https://' : 'http://') . $this->_config['host'] . ($port === '' ? '' : ":$port");
    }

    private function serviceOf(Server_Account $account): string
    {
        return 'fossbilling:' . $account->getUsername();
    }

    private function serverOf(Server_Account $account): array
    {
        return $this->client()->serverOf($this->serviceOf($account))
            ?? throw new Server_Exception('This service has no server in Berth. Activate the order first.');
    }

    private function value(Server_Package $package, string $name): string
    {
        $value = trim((string) $package->getCustomValue($name));
        return $value !== '' ? $value : throw new Server_Exception("The hosting plan lacks the custom value $name.");
    }

    private function done(callable $work): bool
    {
        $this->words($work);
        return true;
    }

    private function words(callable $work): mixed
    {
        try {
            return $work();
        } catch (BerthError $error) {
            throw new Server_Exception($error->words());
        }
    }
}
