<?php
// Paymenter server extension for Berth. See README.md.

namespace Paymenter\Extensions\Servers\Berth;

use App\Classes\Extension\Server;
use App\Models\Service;
use BerthClient;
use BerthError;
use Exception;

require_once __DIR__ . '/BerthClient.php';

class Berth extends Server
{
    private const SERVER = 'berth_server';

    private ?BerthClient $client = null;

    public function getConfig($values = []): array
    {
        return [
            ['name' => 'host', 'type' => 'text', 'label' => 'Address of the panel', 'required' => true, 'validation' => 'url'],
            ['name' => 'token', 'type' => 'password', 'label' => 'API token', 'required' => true, 'encrypted' => true],
        ];
    }

    public function getProductConfig($values = []): array
    {
        [$packages, $locations] = $this->berth()->offer();
        $images = array_column(iterator_to_array($this->berth()->all('/images?limit=200'), false), 'name', 'id');
        $select = fn (string $name, string $label, array $options, bool $required = true) => [
            'name' => $name, 'type' => 'select', 'label' => $label, 'required' => $required, 'options' => $options,
        ];
        return [
            $select('package', 'Package', array_column($packages, 'name', 'id')),
            $select('location', 'Location', array_column($locations, 'name', 'id')),
            $select('image', 'Image', ['none' => 'None: the client chooses it'] + $images, false),
        ];
    }

    public function testConfig(): bool|string
    {
        try {
            $missing = $this->berth()->connection()['missingScopes'];
            return $missing === [] ? true : 'Berth: the token lacks ' . implode(', ', $missing) . '.';
        } catch (BerthError $error) {
            return $error->words();
        }
    }

    /** What is answered is at hand in the mail about the new server: address, user and root password. */
    public function createServer(Service $service, $settings, $properties)
    {
        return $this->words(function () use ($service, $settings, $properties) {
            $chosen = array_merge($settings, array_intersect_key($properties, array_flip(['package', 'location', 'image', 'hostname'])));
            $user = $service->user;
            $order = [
                'ownerId' => $this->berth()->customer("paymenter:{$user->id}", $user->name ?: $user->email, $user->email),
                'packageId' => $chosen['package'],
                'nodeGroupId' => $chosen['location'],
                'billingServiceId' => $this->serviceId($service),
            ];
            $image = $chosen['image'] ?? 'none';
            if ($image !== '' && $image !== 'none') {
                $hostname = $chosen['hostname'] ?? "server{$service->id}";
                $order += ['imageId' => $image, 'hostname' => $hostname, 'access' => ['mode' => 'password']];
            }
            $made = $this->berth()->order($order, bin2hex(random_bytes(8)));
            $service->properties()->updateOrCreate(
                ['key' => self::SERVER],
                ['name' => 'Server in Berth', 'value' => $made['serverId']],
            );
            return ['ip' => $made['ipv4'], 'username' => $made['user'] ?? 'root', 'password' => $made['rootPassword']];
        });
    }

    public function suspendServer(Service $service, $settings, $properties)
    {
        return $this->done(fn () => $this->berth()->suspend($this->serverOf($service, $properties), 'Overdue'));
    }

    public function unsuspendServer(Service $service, $settings, $properties)
    {
        return $this->done(fn () => $this->berth()->unsuspend($this->serverOf($service, $properties)));
    }

    public function terminateServer(Service $service, $settings, $properties)
    {
        return $this->done(function () use ($service, $properties) {
            $this->berth()->terminate($this->serverOf($service, $properties));
            $service->properties()->where('key', self::SERVER)->delete();
        });
    }

    public function upgradeServer(Service $service, $settings, $properties)
    {
        $package = $properties['package'] ?? $settings['package'];
        return $this->done(fn () => $this->berth()->changePackage($this->serverOf($service, $properties), $package));
    }

    /** The buttons on the client's page of the service. */
    public function getActions(Service $service, $settings, $properties): array
    {
        return [['type' => 'button', 'label' => 'Open the panel', 'function' => 'getLoginUrl']];
    }

    public function getLoginUrl(Service $service, $settings, $properties): string
    {
        return $this->words(fn () => $this->berth()->signInLink($this->serverOf($service, $properties)));
    }

    private function berth(): BerthClient
    {
        return $this->client ??= new BerthClient((string) $this->config('host'), trim((string) $this->config('token')));
    }

    private function serviceId(Service $service): string
    {
        return "paymenter:{$service->id}";
    }

    /** Its id, also where the answer to the order was lost. */
    private function serverOf(Service $service, array $properties): string
    {
        return $properties[self::SERVER]
            ?? $this->berth()->serverOf($this->serviceId($service))['id']
            ?? throw new Exception('This service has no server in Berth. Create it first.');
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
            throw new Exception($error->words());
        }
    }
}
